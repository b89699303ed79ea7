//! `mcpwire login`: with a browser on this machine, with a browser elsewhere, with a code, and after an interrupt.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::login::{Browser, Guarded, agree, answer, login_page, visit};
use crate::support::{Running, each};

#[test]
fn a_login_is_private_and_used_by_all_later_commands() {
    let guarded = Guarded::start().configured();
    let issuer = guarded.authorization.issuer();
    let shown = ["notes\n", &issuer, "registered by this program", "renewed automatically", "kept in"];
    guarded.assert_no_secret(guarded.log_in(&["notes"]).shows(&shown));
    let url = guarded.server.url();
    for arguments in [
        &["tools"][..],
        &["call", "notes__echo"],
        &["call", "echo", "--server", "notes"],
        &["info", "--server", "notes"],
        &["call", "echo", "--url", &url],
        &["call", "echo", "--url", &url, "--stored-auth-only"],
        &["ping", "--url", &url],
        &["server", "doctor"],
    ] {
        guarded.assert_no_secret(guarded.run(arguments).exits(0));
    }
    assert_eq!(guarded.authorization.clients().len(), 1, "a client is registered once");
    // Other credentials take the place of the login.
    guarded.run(&["info", "--url", &url, "--header", "Authorization: Basic eDp5"]).exits(3);

    let logins = guarded.path().join("secrets/logins");
    assert_eq!(fs::metadata(&logins).unwrap().permissions().mode() & 0o777, 0o700);
    let files: Vec<_> = fs::read_dir(&logins).unwrap().map(|entry| entry.unwrap().metadata().unwrap()).collect();
    assert!(!files.is_empty());
    assert!(files.iter().all(|file| file.permissions().mode() & 0o777 == 0o600));
}

#[test]
fn a_terminal_gets_its_browser_opened_and_nothing_else_does() {
    let guarded = Guarded::start().configured();
    let browser = Browser::new(&guarded);
    let variable = [("BROWSER", &*browser.program)];
    let login = guarded.at_terminal(&["login", "notes"], &variable);
    assert_eq!(browser.url(), login_page(&login), "the URL is printed as well");
    agree(&login);
    login.finish().exits(0);

    let begin = |arguments: &[&str]| {
        guarded.run(&["logout", "notes"]).exits(0);
        Running::start_open(guarded.command(arguments).envs(variable))
    };
    let login = begin(&["login", "notes"]);
    agree(&login);
    login.finish().exits(0).says(&["Open this page in a browser on this machine"]);
    // On a busy machine, the time may be over before the page is shown.
    begin(&["login", "notes", "--timeout", "300ms"]).finish().exits(5).says(&["--timeout"]);
    assert!(!browser.was_started());
}

#[test]
fn only_the_answer_to_this_login_ends_it() {
    let guarded = Guarded::start();
    let running = guarded.begin(&["login", "--url", &guarded.server.url()]);
    let address = answer(&login_page(&running));
    let (redirect, _) = address.split_once('?').unwrap();
    for other in [format!("{redirect}?code=x&state=y"), format!("{redirect}/other"), redirect.to_owned()] {
        let (status, _) = visit(&other);
        assert!((400..500).contains(&status), "{other}: {status}");
    }
    let (_, response) = visit(&address);
    assert!(response.contains("login has been received"), "{response}");
    running.finish().exits(0);
}

#[test]
fn the_address_of_the_redirect_can_be_chosen() {
    let guarded = Guarded::start().configured();
    for (redirect_uri, start) in
        [("http://localhost/oauth/done", "http://localhost:"), ("http://127.0.0.1", "http://127.0.0.1:")]
    {
        let running = guarded.begin(&["login", "notes", "--redirect-uri", redirect_uri]);
        let address = answer(&login_page(&running));
        assert!(address.starts_with(start), "{address}");
        assert_eq!(visit(&address).0, 200);
        running.finish().exits(0);
    }
    let wrong = guarded.run(&["login", "notes", "--redirect-uri", "https://example.com/callback", "--json"]).exits(2);
    assert_eq!(wrong.error()["field"], "redirect-uri", "{wrong:?}");
}

#[test]
fn the_scopes_of_a_login_are_those_that_the_server_wants_or_the_user_chooses() {
    let guarded = Guarded::start().configured();
    guarded.server.scopes_supported(["read", "write", "admin"]).require("", "read");
    guarded.authorization.scopes_supported(["read", "write", "admin"]);
    let finished = guarded.log_in(&["notes", "--json"]);
    assert_eq!(finished.json()["scopes"], json!(["read"]), "{finished:?}");
    let step: Value = serde_json::from_str(finished.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(step["step"], "open_url", "{step}");
    guarded
        .log_in(&["notes", "--scope", "read", "--scope", "admin", "--json"])
        .json_has("/scopes", json!(["read", "admin"]));
}

#[test]
fn the_address_is_pasted_from_a_browser_elsewhere() {
    let words = ["login", "notes", "--no-browser"];
    for is_at_terminal in [false, true] {
        let guarded = Guarded::start().configured();
        let mut login = if is_at_terminal {
            guarded.at_terminal(&words, &[("BROWSER", "/bin/false")])
        } else {
            guarded.begin_open(&words)
        };
        let address = answer(&login_page(&login));
        login.wait_for_stderr("Paste that address here:");
        login.types("what?\n");
        login.wait_for_stderr("That is not the address");
        login.types(&format!("  {address}  \n"));
        let finished = login.finish().exits(0);
        // A terminal shows what is typed.
        if !is_at_terminal {
            guarded.assert_no_secret(finished);
        }
        guarded.run(&["call", "notes__echo"]).gives(0, "hi\n");
    }
}

#[test]
fn an_input_that_ends_too_early_fails_the_login() {
    let guarded = Guarded::start();
    for (input, status) in [("", 4), ("x\n", 4), ("x\ny\nz\nw\n", 2)] {
        guarded.run_with_input(&["login", "--no-browser", "--url", &guarded.server.url()], input).exits(status);
    }
}

#[test]
fn a_code_is_shown_and_waited_for() {
    let device = json!({
        "device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": "https://auth.example/device",
        "verification_uri_complete": "https://auth.example/device?user_code=WDJB-MJHT", "expires_in": 900, "interval": 1,
    });
    let token = json!({ "access_token": "access", "token_type": "Bearer", "expires_in": 60, "scope": "read" });
    each([&[][..], &["--json"]], |format| {
        let guarded = Guarded::start().configured();
        guarded.authorization.answer_next(Endpoint::DeviceAuthorization, HttpAnswer::json(200, &device));
        guarded.authorization.answer_next(Endpoint::Token, HttpAnswer::json(200, &token));
        let page = "https://auth.example/device";
        let finished = guarded.run(&[&["login", "notes", "--device"], format].concat()).exits(0);
        let finished = finished.says(&["WDJB-MJHT", page, &format!("{page}?user_code=WDJB-MJHT")]);
        if format.is_empty() {
            // There is no refresh token.
            finished.says(&["expires:", "minutes"]).shows(&["then log in again"]);
        } else {
            let step: Value = serde_json::from_str(finished.stderr.trim()).unwrap();
            assert_eq!(step["step"], "enter_code", "{step}");
            assert_eq!(finished.json()["can_refresh"], false);
        }
    });
}

#[test]
fn an_interrupt_ends_each_way_to_log_in() {
    let guarded = Guarded::start().configured();
    for (way, says) in
        [(&[][..], "code_challenge="), (&["--no-browser"], "Paste that address here:"), (&["--device"], "WDJB")]
    {
        let running = guarded.begin_open(&[&["login", "notes"], way].concat());
        running.wait_for_stderr(says);
        running.interrupt().gives(130, "").says(&["interrupted"]);
    }
}

/// Starts a login, and kills the program. Returns the URL of the login page.
fn kill_a_login(guarded: &Guarded) -> String {
    let running = guarded.begin(&["login", "notes"]);
    let page = login_page(&running);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().status.code(), None);
    page
}

#[test]
fn the_first_tab_of_the_browser_finishes_the_second_login() {
    let guarded = Guarded::start().configured();
    let first = kill_a_login(&guarded);
    let second = guarded.begin(&["login", "notes"]);
    assert_eq!(login_page(&second), first);
    agree(&second);
    second.finish().exits(0);
    guarded.run(&["call", "notes__echo"]).gives(0, "hi\n");
}

#[test]
fn the_address_of_the_first_tab_can_be_pasted_once() {
    let guarded = Guarded::start().configured();
    let address = answer(&kill_a_login(&guarded));
    let paste = || guarded.run_with_input(&["login", "notes", "--no-browser"], &address);
    paste().exits(0);
    paste().exits(4);
    guarded.run(&["call", "notes__echo"]).gives(0, "hi\n");
}

#[test]
fn a_restart_forgets_the_login_and_the_client() {
    let guarded = Guarded::start().configured();
    let first = kill_a_login(&guarded);
    let running = guarded.begin(&["login", "notes", "--restart"]);
    assert_ne!(login_page(&running), first);
    assert_eq!(guarded.authorization.clients().len(), 2);
    agree(&running);
    running.finish().exits(0);
}

#[test]
fn the_page_of_a_login_is_shown_with_the_address_of_its_host() {
    let guarded = Guarded::start();
    let endpoint = |endpoint| guarded.authorization.endpoint(endpoint);
    let metadata = json!({
        "issuer": guarded.authorization.issuer(), "authorization_endpoint": "https://2130706433/authorize",
        "token_endpoint": endpoint(Endpoint::Token), "registration_endpoint": endpoint(Endpoint::Registration),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
    });
    guarded
        .authorization
        .on_request(move |request| request.url.contains("/.well-known/").then(|| HttpAnswer::json(200, &metadata)));
    let login = guarded.run(&["login", "--no-browser", "--url", &guarded.server.url()]);
    login.says(&["https://2130706433/authorize?", " (the host 127.0.0.1)\n"]);
}

#[test]
fn the_page_for_a_code_is_shown_with_the_address_of_its_host() {
    let guarded = Guarded::start();
    let device = json!({
        "device_code": "code", "user_code": "ABCD", "verification_uri": "https://0177.0.0.1/device",
        "verification_uri_complete": "https://0177.1/device?user_code=ABCD", "expires_in": 600,
    });
    guarded.authorization.answer_next(Endpoint::DeviceAuthorization, HttpAnswer::json(200, &device));
    let login = guarded.begin_open(&["login", "--device", "--url", &guarded.server.url()]);
    login.wait_for_stderr("ABCD\n");
    login
        .interrupt()
        .says(&["https://0177.0.0.1/device (the host 127.0.0.1)\n", "user_code=ABCD (the host 127.0.0.1)\n"]);
}
