//! Commands that need a login end at once with exit status 6, or ask at a terminal; and logins that fail say why.
#![cfg(target_os = "linux")]

use std::net::TcpListener;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use serde_json::Value;

use crate::support::Running;
use crate::support::login::{Browser, Guarded, agree_at, answer, login_page, url_in, visit};
use crate::support::servers::DemoServer;

/// A browser that does not open anything.
const NO_BROWSER: [(&str, &str); 1] = [("BROWSER", "/bin/false")];

/// The question to a user who is not logged in, and the one to a user whose login has not enough scopes.
const FIRST: &str = "Log in now? [Y/n]";
const AGAIN: &str = "Log in again? [y/N]";

#[test]
fn each_command_says_how_to_log_in() {
    let guarded = Guarded::start().configured();
    let url = guarded.server.url();
    let by_url = format!("log in first: mcpwire login --url {url}\n");
    let by_name = "log in first: mcpwire login notes\n";
    for (arguments, advice) in [
        (&["tools", "--url", &url][..], &*by_url),
        (&["call", "echo", "--url", &url], &by_url),
        (&["ping", "--url", &url], &by_url),
        (&["listen", "--url", &url], &by_url),
        (&["whoami", "--url", &url], &by_url),
        (&["tools", "--server", "notes"], by_name),
        (&["info", "--server", "notes"], by_name),
        (&["call", "notes__echo"], by_name),
        (&["call", "echo", "--server", "notes"], by_name),
        (&["server", "enable", "notes"], by_name),
        (&["whoami", "notes"], by_name),
    ] {
        let finished = guarded.run(arguments).gives(6, "");
        assert!(finished.stderr.ends_with(advice), "{finished:?}");
        guarded.run(&[arguments, &["--json"]].concat()).exits(6).error_has("code", "LOGIN_REQUIRED");
    }
    // Other servers may have tools.
    guarded.run(&["tools"]).exits(0).says(&[by_name]);
    guarded.run(&["status"]).shows(&["needs-login"]);
}

#[test]
fn the_scopes_that_are_missing_are_in_the_command() {
    let guarded = Guarded::start().configured();
    guarded.server.require("tools/call echo", "write");
    guarded.log_in(&["notes"]);
    let url = guarded.server.url();
    for (arguments, command) in [
        (&["call", "echo", "--url", &url][..], format!("mcpwire login --url {url} --scope write\n")),
        (&["call", "notes__echo"], "mcpwire login notes --scope write\n".to_owned()),
    ] {
        let finished = guarded.run(arguments).exits(6);
        assert!(finished.stderr.ends_with(&command), "{finished:?}");
    }
    guarded.log_in(&["notes", "--scope", "write"]);
    guarded.run(&["call", "notes__echo"]).gives(0, "hi\n");
}

#[test]
fn a_running_hub_uses_a_new_login() {
    let guarded = Guarded::start().configured();
    let hub = guarded.hub();
    guarded.run(&["call", "notes__echo"]).exits(6);
    guarded.log_in(&["notes"]);
    guarded.run(&["call", "notes__echo"]).gives(0, "hi\n");
    hub.interrupt();
}

/// Answers the question of a command at a terminal with yes, and logs in with the browser.
fn log_in_when_asked(guarded: &Guarded, browser: &Browser, command: &[&str], question: &str, typed: &str) {
    let mut call = guarded.at_terminal(command, &[("BROWSER", &browser.program)]);
    call.wait_for_stderr(question);
    call.types(typed);
    agree_at(&browser.url());
    call.finish().exits(0);
}

#[test]
fn a_terminal_is_asked_and_the_call_goes_on_after_the_login() {
    let guarded = Guarded::start();
    guarded.server.require("tools/call echo", "write");
    let (url, browser) = (guarded.server.url(), Browser::new(&guarded));
    for (command, question, typed, logs_out) in [
        (&["ping", "--url", &url][..], FIRST, "\n", false),
        (&["call", "echo", "--url", &url], AGAIN, "y\n", true),
        (&["tools", "--url", &url], FIRST, "\n", true),
    ] {
        log_in_when_asked(&guarded, &browser, command, question, typed);
        let listed = guarded.run(&["whoami", "--json"]).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        if logs_out {
            guarded.run(&["logout", "--url", &url]).exits(0);
        }
    }
}

#[test]
fn a_server_that_wants_more_scopes_gets_none_by_default() {
    let guarded = Guarded::start().configured();
    guarded.server.require("", "read").require("tools/call echo", "write");
    let url = guarded.server.url();
    guarded.log_in(&["--url", &url, "--scope", "read"]);
    let before = guarded.authorization.requests().len();
    guarded.server.require("server/discover", "write");
    for (target, server) in [(["--url", &*url], url.clone()), (["--server", "notes"], format!("notes at {url}"))] {
        for typed in ["\n", "n\n", "\u{4}"] {
            let mut call = guarded.at_terminal(&[&["info"], &target[..]].concat(), &NO_BROWSER);
            call.wait_for_stderr(AGAIN);
            call.types(typed);
            let finished = call.finish().exits(6).says(&["log in first: mcpwire login"]);
            let scopes = "\r\n  scopes so far: read\r\n  new scopes:    write\r\n";
            finished.says(&[&format!("{server} wants you to log in with more scopes.{scopes}")]);
        }
    }
    assert_eq!(guarded.authorization.requests().len(), before, "the authorization server was not asked");
    guarded.run(&["info", "--url", &url]).exits(6).says(&["mcpwire login --url", "--scope write"]);
    log_in_when_asked(&guarded, &Browser::new(&guarded), &["info", "--url", &url], AGAIN, "y\n");
}

#[test]
fn a_terminal_that_says_no_gets_the_command() {
    let guarded = Guarded::start();
    let ask = || {
        let call = guarded.at_terminal(&["ping", "--url", &guarded.server.url()], &NO_BROWSER);
        call.wait_for_stderr(FIRST);
        call
    };
    for typed in ["n\n", "\u{4}"] {
        let mut call = ask();
        call.types(typed);
        call.finish().exits(6).says(&["log in first: mcpwire login --url"]);
    }
    ask().interrupt().exits(130);
}

#[test]
fn nobody_is_asked_without_a_terminal_or_if_that_is_said() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    for more in ["--stored-auth-only", "--json"] {
        let call = guarded.at_terminal(&["ping", "--url", &url, more], &NO_BROWSER).finish().exits(6);
        assert!(url_in(&call.stderr).is_none() && !call.stderr.contains("[Y/n]"), "{call:?}");
    }
    guarded.begin_open(&["ping", "--url", &url]).finish().exits(6);
    assert!(guarded.authorization.requests().is_empty(), "a call asks the authorization server nothing");
}

/// Logs in as far as the login goes, and checks its status. Returns the error, which is the last line of standard error.
#[track_caller]
fn fail_to_log_in(guarded: &Guarded, status: i32) -> Value {
    let running = guarded.begin(&["login", "notes", "--json"]);
    visit(&answer(&login_page(&running)));
    let finished = guarded.assert_no_secret(running.finish().exits(status));
    // Nothing is stored.
    guarded.run(&["whoami", "notes"]).exits(6);
    serde_json::from_str(finished.stderr.lines().last().expect("a line")).expect("JSON")
}

#[test]
fn a_login_that_is_refused_or_not_trusted_is_4() {
    for (deviation, says) in [
        (Deviation::RefuseLogins("access_denied".into()), "access_denied"),
        (Deviation::Iss("https://other.example".into()), "another authorization server"),
    ] {
        let guarded = Guarded::start().configured();
        guarded.authorization.deviate(deviation);
        let error = fail_to_log_in(&guarded, 4);
        assert_eq!(error["field"], "login", "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(says)), "{says}: {error}");
    }
}

#[test]
fn an_authorization_server_with_a_problem_is_3_and_named() {
    let guarded = Guarded::start().configured();
    guarded.authorization.on_request(|request| request.url.contains("/token").then(|| HttpAnswer::status(503)));
    let error = fail_to_log_in(&guarded, 3);
    assert_eq!(error["code"], "NETWORK_ERROR", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("503") && message.contains(&guarded.authorization.endpoint(Endpoint::Token)), "{message}");
}

#[test]
fn an_authorization_server_that_lacks_something_is_2_and_what_to_do_is_said() {
    let guarded = Guarded::start().configured();
    guarded.authorization.without_devices();
    guarded.run(&["login", "notes", "--device"]).exits(2).says(&["--no-browser"]);
    guarded.authorization.without_registration();
    guarded.run(&["login", "notes"]).exits(2).says(&["oauth.client_id"]);
    guarded.run(&["login", "--url", &guarded.server.url()]).exits(2).says(&["--client-id"]);
}

#[test]
fn a_port_that_another_program_has_is_named() {
    let guarded = Guarded::start().configured();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let redirect_uri = format!("http://{address}/callback");
    guarded.run(&["login", "notes", "--redirect-uri", &redirect_uri]).exits(4).says(&[&address, "Another program"]);
}

#[test]
fn a_login_that_nobody_finishes_is_5_and_goes_on_later() {
    let guarded = Guarded::start().configured();
    guarded.run(&["login", "notes", "--timeout", "1ms"]).exits(5).says(&["nobody has logged in within 1ms"]);
}

#[test]
fn a_client_that_is_registered_for_one_method_is_named_with_it() {
    let guarded = Guarded::start();
    let client = Client::new("mine").secret("secret-of-the-client").redirect_uri("http://127.0.0.1/callback");
    guarded.authorization.client(client.auth_method("client_secret_post")).deviate(Deviation::AnyLoopbackPort);
    let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
    let client = ["--client-id", "mine", "--client-secret-env", "CLIENT_SECRET", "--issuer", &issuer];
    let log_in = |more: &[&str]| {
        let mut command = guarded.command(&[&["login", "--url", &url, "--no-browser"], &client[..], more].concat());
        let mut running = Running::start_open(command.env("CLIENT_SECRET", "secret-of-the-client"));
        let address = answer(&login_page(&running));
        running.types(&format!("{address}\n"));
        running.finish()
    };
    log_in(&[]).fails().says(&["client_secret_basic", "--client-auth-method"]);
    log_in(&["--client-auth-method", "client_secret_post"]).exits(0);
}

#[test]
fn a_server_that_is_not_there_is_3_and_one_that_wants_no_login_is_2() {
    let (open, guarded) = (DemoServer::start(), Guarded::start());
    let gone = DemoServer::start().url.clone();
    let origin = gone.trim_end_matches("/mcp");
    for (url, way, status, says) in [
        (&gone, &[][..], 3, origin),
        (&gone, &["--no-browser"], 3, origin),
        (&gone, &["--device"], 3, origin),
        (&open.url, &["--no-browser"], 2, "no login is needed"),
        (&open.url, &["--device"], 2, "no login is needed"),
    ] {
        let finished = guarded.run(&[&["login", "--url", url], way].concat()).exits(status).says(&[says]);
        assert!(!finished.stderr.contains("regist"), "{finished:?}");
    }
}

#[test]
fn a_redirect_to_another_origin_names_the_address_of_its_host() {
    let guarded = Guarded::start();
    guarded.server.on_request(|_| Some(HttpAnswer::status(307).header("location", "https://0x7f000001/mcp")));
    let info = guarded.run(&["info", "--url", &guarded.server.url()]);
    info.says(&["to another origin: https://0x7f000001/mcp (the host 127.0.0.1)"]);
}
