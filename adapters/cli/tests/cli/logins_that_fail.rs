//! A login that fails says what failed, and what to do.
#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::net::TcpListener;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use serde_json::json;

use crate::support::guarded::{Guarded, answer, login_page, visit};
use crate::support::http::Server;
use crate::support::{Finished, Running, command};

/// Logs in as far as the login goes. The browser does as it is told.
fn try_to_log_in(guarded: &Guarded) -> Finished {
    let running = guarded.begin(&["login", "notes", "--json"]);
    visit(&answer(&login_page(&running)));
    let finished = running.finish();
    guarded.assert_no_secret(&finished);
    assert_eq!(guarded.run(&["whoami", "notes"]).code(), 6, "nothing is stored");
    finished
}

/// Returns the error, which is the last line of standard error.
fn error(finished: &Finished) -> serde_json::Value {
    serde_json::from_str(finished.stderr.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn a_login_that_is_refused_or_not_trusted_is_4() {
    for (deviation, words) in [
        (Deviation::RefuseLogins("access_denied".into()), "access_denied"),
        (Deviation::Iss("https://other.example".into()), "another authorization server"),
    ] {
        let guarded = Guarded::start().configured();
        guarded.authorization.deviate(deviation);
        let finished = try_to_log_in(&guarded);
        let error = error(&finished);
        assert_eq!((finished.code(), &error["field"]), (4, &json!("login")), "{finished:?}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[test]
fn an_authorization_server_with_a_problem_is_3_and_named() {
    let guarded = Guarded::start().configured();
    guarded.authorization.on_request(|request| request.url.contains("/token").then(|| HttpAnswer::status(503)));
    let finished = try_to_log_in(&guarded);
    let error = error(&finished);
    assert_eq!((finished.code(), &error["code"]), (3, &json!("NETWORK_ERROR")), "{finished:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("503") && message.contains(&guarded.authorization.endpoint(Endpoint::Token)), "{message}");
}

#[test]
fn an_authorization_server_without_registration_needs_a_client() {
    let guarded = Guarded::start().configured();
    guarded.authorization.without_registration();
    let finished = guarded.run(&["login", "notes"]);
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert!(finished.stderr.contains("oauth.client_id"), "{finished:?}");
    let finished = guarded.run(&["login", "--url", &guarded.server.url()]);
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert!(finished.stderr.contains("--client-id"), "{finished:?}");
}

#[test]
fn a_server_without_codes_for_devices_says_so() {
    let guarded = Guarded::start().configured();
    guarded.authorization.without_devices();
    let finished = guarded.run(&["login", "notes", "--device"]);
    assert_eq!(finished.code(), 2, "{finished:?}");
    assert!(finished.stderr.contains("--no-browser"), "{finished:?}");
}

#[test]
fn a_port_that_another_program_has_is_named() {
    let guarded = Guarded::start().configured();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let finished = guarded.run(&["login", "notes", "--redirect-uri", &format!("http://{address}/callback")]);
    assert_eq!(finished.code(), 4, "{finished:?}");
    assert!(finished.stderr.contains(&address) && finished.stderr.contains("Another program"), "{finished:?}");
}

#[test]
fn a_login_that_nobody_finishes_is_5_and_goes_on_later() {
    let guarded = Guarded::start().configured();
    let finished = guarded.run(&["login", "notes", "--timeout", "1ms"]);
    assert_eq!(finished.code(), 5, "{finished:?}");
    assert!(finished.stderr.contains("nobody has logged in within 1ms"), "{finished:?}");
}

#[test]
fn a_server_that_is_not_there_is_3() {
    let guarded = Guarded::start();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", taken.local_addr().unwrap());
    drop(taken);
    for way in [&[][..], &["--no-browser"], &["--device"]] {
        let finished = guarded.run(&[&["login", "--url", &url], way].concat());
        assert_eq!(finished.code(), 3, "{finished:?}");
        assert!(finished.stderr.contains(&url[..url.len() - 4]), "{finished:?}");
    }
}

#[test]
fn a_client_that_is_registered_for_one_method_is_named_with_it() {
    let guarded = Guarded::start();
    let client = Client::new("mine").secret("secret-of-the-client").redirect_uri("http://127.0.0.1/callback");
    guarded.authorization.client(client.auth_method("client_secret_post")).deviate(Deviation::AnyLoopbackPort);
    let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
    let issuer = issuer.as_str();
    let words = [
        "login",
        "--url",
        &url,
        "--no-browser",
        "--client-id",
        "mine",
        "--client-secret-env",
        "CLIENT_SECRET",
        "--issuer",
        issuer,
    ];
    let log_in = |more: &[&str]| {
        let mut program = command(&guarded.words(&[&words[..], more].concat()));
        program.env("CLIENT_SECRET", "secret-of-the-client");
        let (running, mut stdin) = Running::start_command(program);
        writeln!(stdin, "{}", answer(&login_page(&running))).unwrap();
        running.finish()
    };
    let finished = log_in(&[]);
    assert_ne!(finished.code(), 0, "{finished:?}");
    assert!(
        finished.stderr.contains("client_secret_basic") && finished.stderr.contains("--client-auth-method"),
        "{finished:?}"
    );
    let finished = log_in(&["--client-auth-method", "client_secret_post"]);
    assert_eq!(finished.code(), 0, "{finished:?}");
}

#[test]
fn a_server_that_wants_no_login_says_so() {
    let (open, guarded) = (Server::start(), Guarded::start());
    for way in ["--no-browser", "--device"] {
        let finished = guarded.run(&["login", "--url", &open.url, way]);
        assert_eq!(finished.code(), 2, "{finished:?}");
        assert!(finished.stderr.contains("no login is needed"), "{finished:?}");
        assert!(!finished.stderr.contains("regist"), "{finished:?}");
    }
}
