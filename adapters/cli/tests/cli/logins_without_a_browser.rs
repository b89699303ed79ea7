//! `mcpwire login --no-browser` and `mcpwire login --device`.
#![cfg(target_os = "linux")]

use std::io::Write as _;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use rustix::process::Signal;
use serde_json::json;

use crate::support::Running;
use crate::support::guarded::{Guarded, answer, login_page, url_in};
use crate::support::wait_for;

#[test]
fn the_address_is_pasted_from_a_browser_elsewhere() {
    let guarded = Guarded::start().configured();
    let (running, mut stdin) = Running::start_and_write(&guarded.words(&["login", "notes", "--no-browser"]));
    let address = answer(&login_page(&running));
    writeln!(stdin, "what?").unwrap();
    running.wait_for_stderr("That is not the address");
    writeln!(stdin, "  {address}  ").unwrap();
    let finished = running.finish();
    assert_eq!(finished.code(), 0, "{finished:?}");
    guarded.assert_no_secret(&finished);
    assert_eq!(guarded.run(&["call", "notes__echo"]).stdout, "hi\n");
}

#[test]
fn the_address_is_pasted_at_a_terminal() {
    let guarded = Guarded::start().configured();
    let (mut login, screen, mut typing) = guarded.at_terminal(&["login", "notes", "--no-browser"], "/bin/false");
    let page = wait_for("the URL", || url_in(&screen.text()));
    screen.wait_for("Paste that address here:");
    typing.write_all(format!("{}\n", answer(&page)).as_bytes()).unwrap();
    assert_eq!(login.wait().unwrap().code(), Some(0), "{}", screen.text());
}

#[test]
fn an_input_that_ends_too_early_fails_the_login() {
    let guarded = Guarded::start();
    for (input, status) in [("", 4), ("x\n", 4), ("x\ny\nz\nw\n", 2)] {
        let words = guarded.words(&["login", "--no-browser", "--url"]);
        let url = guarded.server.url();
        let finished = Running::start(&[&words[..3], &[&url], &words[3..]].concat(), input).finish();
        assert_eq!(finished.code(), status, "{input:?}: {finished:?}");
    }
}

#[test]
fn a_code_is_shown_and_waited_for() {
    let guarded = Guarded::start().configured();
    let device = json!({
        "device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": "https://auth.example/device",
        "verification_uri_complete": "https://auth.example/device?user_code=WDJB-MJHT", "expires_in": 900, "interval": 1,
    });
    let token = json!({ "access_token": "access", "token_type": "Bearer", "expires_in": 60, "scope": "read" });
    for more in [&[][..], &["--json"]] {
        let authorization = &guarded.authorization;
        authorization.answer_next(Endpoint::DeviceAuthorization, HttpAnswer::json(200, &device));
        authorization.answer_next(Endpoint::Token, HttpAnswer::json(200, &token));
        let finished = guarded.run(&[&["login", "notes", "--device"], more].concat());
        assert_eq!(finished.code(), 0, "{finished:?}");
        for words in ["WDJB-MJHT", "https://auth.example/device", "https://auth.example/device?user_code=WDJB-MJHT"] {
            assert!(finished.stderr.contains(words), "{words}: {finished:?}");
        }
        if more.is_empty() {
            assert!(finished.stderr.contains("expires:") && finished.stderr.contains("minutes"), "{finished:?}");
            assert!(finished.stdout.contains("then log in again"), "there is no refresh token: {finished:?}");
        } else {
            let step: serde_json::Value = serde_json::from_str(finished.stderr.trim()).unwrap();
            assert_eq!(step["step"], "enter_code", "{step}");
            assert_eq!(finished.json()["can_refresh"], false);
        }
    }
}

#[test]
fn an_interrupt_ends_each_way_to_log_in() {
    let guarded = Guarded::start().configured();
    for (way, words) in
        [(&[][..], "code_challenge="), (&["--no-browser"], "Paste that address here:"), (&["--device"], "WDJB")]
    {
        // The input stays open.
        let (running, _stdin) = Running::start_and_write(&guarded.words(&[&["login", "notes"], way].concat()));
        running.wait_for_stderr(words);
        running.signal(Signal::INT);
        let finished = running.finish();
        assert_eq!((finished.code(), finished.stdout.as_str()), (130, ""), "{finished:?}");
        assert!(finished.stderr.contains("interrupted"), "{finished:?}");
    }
}
