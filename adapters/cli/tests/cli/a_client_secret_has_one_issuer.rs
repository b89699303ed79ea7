//! The secret of a configured client is sent to the authorization server that the user has named, and to no other.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;

use mcpwire_testkit::authorization::{Client, Endpoint};
use serde_json::{Value, json};

use crate::support::configured::with_input;
use crate::support::guarded::{Guarded, answer, login_page, url_in, visit};
use crate::support::wait_for;

const SECRET: &str = "swordfish-of-the-client";

/// Returns a server whose configuration `notes` names a client with a secret, and these settings.
fn configured(settings: &Value) -> Guarded {
    let guarded = Guarded::start().configured();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let redirect_uri = format!("http://127.0.0.1:{port}/callback");
    guarded.authorization.client(Client::new("mine").secret(SECRET).redirect_uri(&redirect_uri));
    let mut whole = servers(&guarded);
    let server = &mut whole["servers"][0];
    let reference = format!("mcp_{}#client_secret", server["id"].as_str().expect("an id"));
    server["oauth"] =
        json!({"client_id": "mine", "client_secret": {"secret_ref": reference}, "redirect_uri": redirect_uri});
    for (name, value) in settings.as_object().expect("an object") {
        server["oauth"][name] = value.clone();
    }
    fs::write(guarded.place().join("mcp/servers.json"), whole.to_string()).expect("it is written");
    let set = with_input(guarded.place(), &["secret", "set", "notes", "client_secret"], &format!("{SECRET}\n"));
    assert_eq!(set.code(), 0, "{set:?}");
    guarded
}

fn servers(guarded: &Guarded) -> Value {
    let file = fs::read(guarded.place().join("mcp/servers.json")).expect("the configuration");
    serde_json::from_slice(&file).expect("JSON")
}

fn configured_issuer(guarded: &Guarded) -> Value {
    servers(guarded)["servers"][0]["oauth"]["issuer"].clone()
}

#[track_caller]
fn assert_nothing_was_sent(guarded: &Guarded) {
    for endpoint in [Endpoint::Token, Endpoint::Authorization, Endpoint::DeviceAuthorization] {
        assert!(guarded.authorization.requests_to(endpoint).is_empty(), "{endpoint:?}");
    }
}

#[test]
fn without_a_terminal_a_secret_without_an_issuer_is_an_error_that_names_the_setting() {
    let guarded = configured(&json!({}));
    for way in [&[][..], &["--no-browser"], &["--device"], &["--json"]] {
        let finished = guarded.run(&[&["login", "notes"], way].concat());
        assert_eq!(finished.code(), 2, "{finished:?}");
        for part in ["oauth.issuer", "`mine`", &guarded.authorization.issuer()] {
            assert!(finished.stderr.contains(part), "{part}: {finished:?}");
        }
        assert_eq!(finished.stderr.contains("--issuer URL"), way != ["--json"], "{finished:?}");
    }
    assert_nothing_was_sent(&guarded);
}

#[test]
fn a_program_without_a_user_needs_the_issuer() {
    let guarded = configured(&json!({"client_credentials": true}));
    for arguments in [&["call", "notes__echo"][..], &["call", "notes__echo", "--json"]] {
        let finished = guarded.run(arguments);
        assert_ne!(finished.code(), 0, "{finished:?}");
        assert!(finished.stderr.contains("`oauth.issuer`"), "{finished:?}");
    }
    assert_nothing_was_sent(&guarded);
    let mut whole = servers(&guarded);
    whole["servers"][0]["oauth"]["issuer"] = guarded.authorization.issuer().into();
    fs::write(guarded.place().join("mcp/servers.json"), whole.to_string()).expect("it is written");
    let finished = guarded.run(&["call", "notes__echo"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "hi\n"), "{finished:?}");
}

#[test]
fn the_issuer_of_the_command_line_is_written_to_the_configuration() {
    let guarded = configured(&json!({}));
    let issuer = guarded.authorization.issuer();
    let wrong = guarded.run(&["login", "notes", "--issuer", "https://other.example"]);
    assert_eq!(wrong.code(), 2, "{wrong:?}");
    assert!(wrong.stderr.contains("https://other.example") && wrong.stderr.contains(&issuer), "{wrong:?}");
    assert_eq!(configured_issuer(&guarded), Value::Null);
    assert_nothing_was_sent(&guarded);
    guarded.log_in(&["notes", "--issuer", &issuer]);
    assert_eq!(configured_issuer(&guarded), json!(issuer));
    let call = guarded.run(&["call", "notes__echo"]);
    assert_eq!((call.code(), call.stdout.as_str()), (0, "hi\n"), "{call:?}");
}

#[test]
fn a_server_of_the_command_line_takes_the_issuer_too() {
    let guarded = configured(&json!({}));
    let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
    let none = guarded.run(&["login", "--url", &url, "--issuer", &issuer]);
    assert_eq!(none.code(), 2, "{none:?}");
    assert!(none.stderr.contains("--client-id"), "{none:?}");
    let running = guarded.begin(&["login", "notes", "--issuer", &issuer]);
    assert_eq!(visit(&answer(&login_page(&running))).status, 200);
    assert_eq!(running.finish().code(), 0);
}

#[test]
fn a_terminal_is_asked_once_and_enter_means_no() {
    let guarded = configured(&json!({}));
    let issuer = guarded.authorization.issuer();
    for typed in ["\n", "n\n", "\u{4}"] {
        let (mut login, screen, mut typing) = guarded.at_terminal(&["login", "notes"], "/bin/false");
        screen.wait_for("[y/N]");
        assert!(screen.text().contains(&issuer) && screen.text().contains("mine"), "{}", screen.text());
        typing.write_all(typed.as_bytes()).unwrap();
        assert_eq!(login.wait().unwrap().code(), Some(2), "{}", screen.text());
        screen.wait_for("oauth.issuer");
    }
    assert_nothing_was_sent(&guarded);
    assert_eq!(configured_issuer(&guarded), Value::Null);

    let (mut login, screen, mut typing) = guarded.at_terminal(&["login", "notes"], "/bin/false");
    screen.wait_for("[y/N]");
    typing.write_all(b"y\n").unwrap();
    let page = wait_for("the login page", || url_in(&screen.text()));
    assert_eq!(visit(&answer(&page)).status, 200);
    assert_eq!(login.wait().unwrap().code(), Some(0), "{}", screen.text());
    assert_eq!(screen.text().matches("[y/N]").count(), 1);
    assert_eq!(configured_issuer(&guarded), json!(issuer));
    // Not asked again, also after a logout and without the setting.
    assert_eq!(guarded.run(&["logout", "notes"]).code(), 0);
    let mut whole = servers(&guarded);
    whole["servers"][0]["oauth"].as_object_mut().expect("an object").remove("issuer");
    fs::write(guarded.place().join("mcp/servers.json"), whole.to_string()).expect("it is written");
    guarded.log_in(&["notes"]);
}
