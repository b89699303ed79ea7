//! A command that ends while a token is being refreshed stores the new token first: the authorization server takes the old refresh
//! token once, and revokes the login if it comes again.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::guarded::{Guarded, answer, login_page, visit};
use crate::support::{Finished, Running, wait_for};

/// Time for which the authorization server holds its responses back.
const SLOW: Duration = Duration::from_secs(2);

/// Time until a response that no command waits for.
const NEVER: Duration = Duration::from_secs(600);

/// Returns a server with a stored login, whose access token expires in so many seconds.
pub(crate) fn logged_in(expires_in: i64) -> Guarded {
    let guarded = Guarded::start().configured();
    guarded.log_in(&["notes"]);
    age(&guarded, expires_in);
    guarded
}

/// Lets the stored access token expire in so many seconds, after a life of an hour.
fn age(guarded: &Guarded, expires_in: i64) {
    let path = document(guarded.place()).expect("a stored login");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
    document["token"]["expires_at"] = json!(now + expires_in);
    document["token"]["obtained_at"] = json!(now + expires_in - 3600);
    fs::write(&path, document.to_string()).unwrap();
}

/// Returns the file of the only login.
pub(crate) fn document(directory: &Path) -> Option<PathBuf> {
    fs::read_dir(directory).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name()?.to_str()?;
        if path.is_dir() {
            document(&path)
        } else {
            (name.starts_with("token-") && !name.contains('.')).then_some(path)
        }
    })
}

/// Returns a member of the stored token, such as `refresh_token`.
pub(crate) fn stored(guarded: &Guarded, member: &str) -> String {
    let document: Value =
        serde_json::from_slice(&fs::read(document(guarded.place()).expect("a login")).unwrap()).unwrap();
    document["token"][member].as_str().expect("a text").to_owned()
}

pub(crate) fn refreshes(authorization: &AuthorizationServer) -> usize {
    let requests = authorization.requests_to(Endpoint::Token);
    requests.iter().filter(|request| request.parameter("grant_type").as_deref() == Some("refresh_token")).count()
}

/// Starts a command, and waits until the authorization server has used up the refresh token.
fn begin_refresh(guarded: &Guarded, arguments: &[&str], latency: Duration) -> Running {
    guarded.authorization.latency(latency);
    let before = refreshes(&guarded.authorization);
    let running = guarded.begin(arguments);
    wait_for("the refresh", || (refreshes(&guarded.authorization) > before).then_some(()));
    running
}

/// Checks that the newest refresh token is stored, and that the next command can use it.
#[track_caller]
fn assert_alive(guarded: &Guarded, ended: &Finished) {
    guarded.authorization.latency(Duration::ZERO);
    let stored = stored(guarded, "refresh_token");
    assert!(guarded.authorization.is_refresh_token_valid(&stored), "an old token is stored: {ended:?}");
    guarded.authorization.revoke_access_tokens();
    let next = guarded.run(&["ping", "--url", &guarded.server.url()]);
    assert_eq!(next.code(), 0, "{next:?} after {ended:?}");
    assert_eq!(guarded.authorization.reused_refresh_tokens(), 0, "{ended:?}");
}

#[test]
fn a_refresh_beside_the_last_request_is_stored() {
    for by_name in [false, true] {
        let guarded = logged_in(30);
        let url = guarded.server.url();
        guarded.authorization.latency(SLOW);
        // The MCP server is slower than the refresh is sent.
        let authorization = guarded.authorization.clone();
        guarded.server.on_request(move |_| {
            wait_for("the refresh", || (refreshes(&authorization) > 0).then_some(()));
            None
        });
        let arguments: &[&str] = if by_name { &["call", "notes__echo"] } else { &["call", "echo", "--url", &url] };
        let finished = guarded.run(arguments);
        assert_eq!((finished.code(), finished.stdout.as_str()), (0, "hi\n"), "{finished:?}");
        assert_eq!(refreshes(&guarded.authorization), 1, "{finished:?}");
        assert_alive(&guarded, &finished);
    }
}

#[test]
fn a_signal_ends_a_command_after_its_refresh() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for by_name in [false, true] {
            let guarded = logged_in(-1);
            let url = guarded.server.url();
            let arguments: &[&str] = if by_name { &["call", "notes__echo"] } else { &["ping", "--url", &url] };
            let running = begin_refresh(&guarded, arguments, SLOW);
            running.signal(signal);
            let finished = running.finish();
            assert_eq!(finished.code(), 130, "{signal:?}: {finished:?}");
            assert_alive(&guarded, &finished);
        }
    }
}

#[test]
fn a_timeout_ends_a_command_after_its_refresh() {
    for by_name in [false, true] {
        let guarded = logged_in(-1);
        let url = guarded.server.url();
        let arguments: &[&str] = if by_name { &["call", "notes__echo"] } else { &["ping", "--url", &url] };
        // The refresh begins before the timeout also on a busy machine, and ends after it.
        let running = begin_refresh(&guarded, &[arguments, &["--timeout", "3"]].concat(), 3 * SLOW);
        let finished = running.finish();
        // By name, the start of the server is not part of the timeout.
        assert!(by_name || finished.code() == 5, "{finished:?}");
        assert_alive(&guarded, &finished);
    }
}

#[test]
fn a_hub_that_is_stopped_stores_its_refresh() {
    for signal in [Signal::INT, Signal::TERM] {
        let guarded = logged_in(-1);
        let running = begin_refresh(&guarded, &["hub", "run"], SLOW);
        running.signal(signal);
        let finished = running.finish();
        assert_alive(&guarded, &finished);
    }
}

#[test]
fn a_signal_ends_a_login_after_the_exchange_of_its_code() {
    let guarded = Guarded::start().configured();
    let running = guarded.begin(&["login", "notes"]);
    let page = login_page(&running);
    guarded.authorization.latency(SLOW);
    visit(&answer(&page));
    wait_for("the exchange", || (!guarded.authorization.requests_to(Endpoint::Token).is_empty()).then_some(()));
    running.signal(Signal::INT);
    assert_alive(&guarded, &running.finish());
}

#[test]
fn a_refresh_without_an_answer_is_given_up_and_the_login_is_named() {
    for by_name in [false, true] {
        let guarded = logged_in(-1);
        let url = guarded.server.url();
        let (arguments, command): (&[&str], _) = if by_name {
            (&["call", "notes__echo"], "`mcpwire login notes`".to_owned())
        } else {
            (&["ping", "--url", &url], format!("`mcpwire login --url {url}`"))
        };
        let running = begin_refresh(&guarded, arguments, NEVER);
        running.signal(Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.code(), 130, "{finished:?}");
        let told = &finished.stderr;
        assert!(told.contains("may be lost: a token refresh was sent, and no answer came within 10 s"), "{finished:?}");
        assert!(told.contains(&command), "{finished:?}");
    }
}

#[test]
fn a_second_signal_ends_the_wait_and_the_login_is_named() {
    for arguments in [&["call", "notes__echo"][..], &["hub", "run"]] {
        let guarded = logged_in(-1);
        let running = begin_refresh(&guarded, arguments, NEVER);
        running.signal(Signal::INT);
        running.wait_for_stderr("waiting for");
        running.signal(Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.code(), 130, "{finished:?}");
        assert!(finished.stderr.contains("may be lost: a token refresh was sent, and a signal"), "{finished:?}");
        assert!(!finished.stderr.contains("within 10 s"), "{finished:?}");
    }
}
