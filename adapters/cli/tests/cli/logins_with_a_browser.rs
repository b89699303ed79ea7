//! `mcpwire login` with a browser on this machine.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::guarded::{Guarded, answer, login_page, url_in, visit};
use crate::support::{Running, wait_for};

/// Writes a browser that only notes the URLs which it is given. Returns its command and the file with the URLs.
pub(crate) fn browser(guarded: &Guarded) -> (String, std::path::PathBuf) {
    let (program, visited) = (guarded.place().join("browser"), guarded.place().join("visited"));
    fs::write(&program, format!("#!/bin/sh\nprintf '%s\\n' \"$1\" >> '{}'\n", visited.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    (program.display().to_string(), visited)
}

#[test]
fn a_login_is_used_by_all_later_commands() {
    let guarded = Guarded::start().configured();
    let finished = guarded.log_in(&["notes"]);
    for words in
        ["notes\n", &guarded.authorization.issuer(), "registered by this program", "renewed automatically", "kept in"]
    {
        assert!(finished.stdout.contains(words), "{words}: {finished:?}");
    }
    guarded.assert_no_secret(&finished);
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
        let finished = guarded.run(arguments);
        assert_eq!(finished.code(), 0, "{arguments:?}: {finished:?}");
        guarded.assert_no_secret(&finished);
    }
    assert_eq!(guarded.authorization.clients().len(), 1, "a client is registered once");
}

#[test]
fn the_files_of_a_login_are_private() {
    let guarded = Guarded::start();
    guarded.log_in(&["--url", &guarded.server.url()]);
    let logins = guarded.place().join("secrets/logins");
    assert_eq!(fs::metadata(&logins).unwrap().permissions().mode() & 0o777, 0o700);
    let files: Vec<_> = fs::read_dir(&logins).unwrap().map(|entry| entry.unwrap().metadata().unwrap()).collect();
    assert!(!files.is_empty());
    assert!(files.iter().all(|file| file.permissions().mode() & 0o777 == 0o600));
}

#[test]
fn a_terminal_gets_its_browser_opened_and_nothing_else_does() {
    let guarded = Guarded::start().configured();
    let (browser, visited) = browser(&guarded);
    let (mut login, screen, _typing) = guarded.at_terminal(&["login", "notes"], &browser);
    let opened = wait_for("the browser", || fs::read_to_string(&visited).ok().filter(|urls| urls.ends_with('\n')));
    let shown = wait_for("the URL", || url_in(&screen.text()));
    assert_eq!(opened, format!("{shown}\n"), "the URL is printed as well");
    assert_eq!(visit(&answer(&shown)).status, 200);
    assert_eq!(login.wait().unwrap().code(), Some(0));

    fs::remove_file(&visited).unwrap();
    assert_eq!(guarded.run(&["logout", "notes"]).code(), 0);
    let mut program = crate::support::command(&guarded.words(&["login", "notes"]));
    program.env("BROWSER", &browser);
    let (login, _stdin) = Running::start_command(program);
    assert_eq!(visit(&answer(&login_page(&login))).status, 200);
    let login = login.finish();
    assert_eq!(login.code(), 0, "{login:?}");
    assert!(login.stderr.contains("Open this page in a browser on this machine"), "{login:?}");

    // On a busy machine, the time may be over before the page is shown.
    assert_eq!(guarded.run(&["logout", "notes"]).code(), 0);
    let mut program = crate::support::command(&guarded.words(&["login", "notes", "--timeout", "300ms"]));
    program.env("BROWSER", &browser);
    let login = Running::start_command(program).0.finish();
    assert_eq!(login.code(), 5, "{login:?}");
    assert!(login.stderr.contains("--timeout"), "{login:?}");
    assert!(!visited.exists());
}

#[test]
fn only_the_answer_to_this_login_ends_it() {
    let guarded = Guarded::start();
    let running = guarded.begin(&["login", "--url", &guarded.server.url()]);
    let address = answer(&login_page(&running));
    let (redirect, _) = address.split_once('?').unwrap();
    for other in [format!("{redirect}?code=x&state=y"), format!("{redirect}/other"), redirect.to_owned()] {
        let response = visit(&other);
        assert!((400..500).contains(&response.status), "{other}: {}", response.status);
    }
    let response = visit(&address);
    assert!(response.body.contains("login has been received"), "{}", response.body);
    assert_eq!(running.finish().code(), 0);
}

#[test]
fn the_address_of_the_redirect_can_be_chosen() {
    let guarded = Guarded::start().configured();
    for (words, start) in [
        (&["--redirect-uri", "http://localhost/oauth/done"][..], "http://localhost:"),
        (&["--redirect-uri", "http://127.0.0.1"], "http://127.0.0.1:"),
    ] {
        let running = guarded.begin(&[&["login", "notes"], words].concat());
        let address = answer(&login_page(&running));
        assert!(address.starts_with(start), "{address}");
        assert_eq!(visit(&address).status, 200);
        assert_eq!(running.finish().code(), 0);
    }
    let wrong = guarded.run(&["login", "notes", "--redirect-uri", "https://example.com/callback", "--json"]);
    assert_eq!((wrong.code(), &wrong.error()["field"]), (2, &json!("redirect-uri")), "{wrong:?}");
}

#[test]
fn the_scopes_of_a_login_are_those_that_the_server_wants_or_the_user_chooses() {
    let guarded = Guarded::start().configured();
    guarded.server.scopes_supported(["read", "write", "admin"]).require("", "read");
    guarded.authorization.scopes_supported(["read", "write", "admin"]);
    let finished = guarded.log_in(&["notes", "--json"]);
    assert_eq!(finished.json()["scopes"], json!(["read"]), "{finished:?}");
    let step: serde_json::Value = serde_json::from_str(finished.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(step["step"], "open_url", "{step}");
    let finished = guarded.log_in(&["notes", "--scope", "read", "--scope", "admin", "--json"]);
    assert_eq!(finished.json()["scopes"], json!(["read", "admin"]), "{finished:?}");
}
