//! The tokens of a stored login, which a server repeats, are in no error, trace, status, log or suggestion.
#![cfg(target_os = "linux")]

use std::fs;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::AuthorizationServer;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::guarded::Guarded;
use crate::support::wait_for;

/// What the server answers to a call, with all tokens that were ever issued.
#[derive(Clone, Copy)]
enum Repeats {
    Error,
    Challenge,
}

fn repeat_tokens(guarded: &Guarded, repeats: Repeats) {
    let authorization = guarded.authorization.clone();
    guarded.server.on_request(move |request| {
        if !request.body.contains("tools/call") {
            return None;
        }
        let request_id = serde_json::from_str::<Value>(&request.body).ok()?["id"].clone();
        let tokens = tokens(&authorization);
        Some(match repeats {
            Repeats::Error => {
                let message = format!("Bearer {} is wrong", tokens.join(" and (") + ")");
                let error = json!({"code": -32603, "message": message});
                HttpAnswer::json(400, json!({"jsonrpc": "2.0", "id": request_id, "error": error}))
            }
            Repeats::Challenge => {
                let scopes = tokens.join(" ");
                let challenge =
                    format!(r#"Bearer error="insufficient_scope", scope="{scopes}", error_description="not {scopes}""#);
                HttpAnswer::status(403).header("www-authenticate", challenge)
            }
        })
    });
}

/// Returns the access and refresh tokens that were issued so far.
fn tokens(authorization: &AuthorizationServer) -> Vec<String> {
    let secrets = authorization.secrets().into_iter();
    secrets.filter(|secret| secret.starts_with("access-token") || secret.starts_with("refresh-token")).collect()
}

#[track_caller]
fn assert_hidden(tokens: &[String], shown: &str) {
    assert!(!tokens.is_empty());
    for token in tokens {
        assert!(!shown.contains(token.as_str()), "{token}: {shown}");
    }
}

#[test]
fn a_stored_token_that_the_server_repeats_is_replaced_also_after_a_refresh() {
    let guarded = Guarded::start().configured();
    let url = guarded.server.url();
    let trace = guarded.place().join("trace");
    let trace = trace.to_str().expect("a plain path");
    for repeats in [Repeats::Error, Repeats::Challenge] {
        for target in [&["echo", "--url", &url, "--trace", trace][..], &["echo", "--server", "notes"], &["notes__echo"]]
        {
            for is_refreshed in [false, true] {
                for more in [&[][..], &["--json"]] {
                    // A login anew, so that the tokens of this command are all that the server knows.
                    guarded.authorization.forget_clients();
                    let login = if target[1..].contains(&"--url") { &["--url", &*url][..] } else { &["notes"] };
                    let before = tokens(&guarded.authorization).len();
                    guarded.log_in(&[login, &["--restart"]].concat());
                    if is_refreshed {
                        guarded.authorization.revoke_access_tokens();
                    }
                    repeat_tokens(&guarded, repeats);
                    let finished = guarded.run(&[&["call"], target, more].concat());
                    guarded.server.on_request(|_| None);
                    let tokens = tokens(&guarded.authorization).split_off(before);
                    assert_eq!(tokens.len(), if is_refreshed { 4 } else { 2 }, "{finished:?}");
                    assert_ne!(finished.code(), 0, "{finished:?}");
                    let traced = fs::read_to_string(trace).unwrap_or_default();
                    let shown = format!("{}{}{traced}", finished.stdout, finished.stderr);
                    assert_hidden(&tokens, &shown);
                    assert!(shown.contains("[secret]"), "the text of the server is shown: {shown}");
                }
            }
        }
    }
}

#[test]
fn the_status_and_the_log_of_a_server_hide_them_too() {
    let guarded = Guarded::start().configured();
    guarded.log_in(&["notes"]);
    let hub = guarded.begin(&["hub", "run"]);
    let socket = guarded.place().join("state/hub.sock");
    wait_for("the hub", || socket.exists().then_some(()));
    repeat_tokens(&guarded, Repeats::Challenge);
    let mut shown = String::new();
    for arguments in [
        &["call", "notes__echo"][..],
        &["status"],
        &["status", "--json"],
        &["server", "logs", "notes"],
        &["server", "doctor"],
    ] {
        let finished = guarded.run(arguments);
        shown = [shown, finished.stdout, finished.stderr].concat();
    }
    hub.signal(Signal::INT);
    let hub = hub.finish();
    let shown = [shown, hub.stdout, hub.stderr].concat();
    assert_hidden(&tokens(&guarded.authorization), &shown);
    assert!(shown.contains("[secret]"), "{shown}");
}
