//! Commands that need a login end at once with exit status 6, or ask at a terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::logins_with_a_browser::browser;
use crate::support::guarded::{Guarded, answer, url_in, visit};
use crate::support::{Running, wait_for};

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
        let finished = guarded.run(arguments);
        assert_eq!((finished.code(), finished.stdout.as_str()), (6, ""), "{arguments:?}: {finished:?}");
        assert!(finished.stderr.ends_with(advice), "{arguments:?}: {finished:?}");
        let json = guarded.run(&[arguments, &["--json"]].concat());
        assert_eq!((json.code(), &json.error()["code"]), (6, &json!("LOGIN_REQUIRED")), "{arguments:?}: {json:?}");
    }
    let tools = guarded.run(&["tools"]);
    assert_eq!(tools.code(), 0, "other servers may have tools: {tools:?}");
    assert!(tools.stderr.contains(by_name), "{tools:?}");
    assert!(guarded.run(&["status"]).stdout.contains("needs-login"));
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
        let finished = guarded.run(arguments);
        assert_eq!(finished.code(), 6, "{finished:?}");
        assert!(finished.stderr.ends_with(&command), "{finished:?}");
    }
    guarded.log_in(&["notes", "--scope", "write"]);
    assert_eq!(guarded.run(&["call", "notes__echo"]).stdout, "hi\n");
}

#[test]
fn other_credentials_take_the_place_of_a_login() {
    let guarded = Guarded::start();
    guarded.log_in(&["--url", &guarded.server.url()]);
    let finished = guarded.run(&["info", "--url", &guarded.server.url(), "--header", "Authorization: Basic eDp5"]);
    assert_eq!(finished.code(), 3, "{finished:?}");
}

#[test]
fn a_running_hub_uses_a_new_login() {
    let guarded = Guarded::start().configured();
    let hub = guarded.begin(&["hub", "run"]);
    let socket = guarded.place().join("state/hub.sock");
    wait_for("the hub", || socket.exists().then_some(()));
    let before = guarded.run(&["call", "notes__echo"]);
    assert_eq!(before.code(), 6, "{before:?}");
    guarded.log_in(&["notes"]);
    let after = guarded.run(&["call", "notes__echo"]);
    assert_eq!((after.code(), after.stdout.as_str()), (0, "hi\n"), "{after:?}");
    hub.signal(Signal::INT);
    hub.finish();
}

#[test]
fn a_terminal_is_asked_and_the_call_goes_on_after_the_login() {
    let guarded = Guarded::start();
    guarded.server.require("tools/call echo", "write");
    let url = guarded.server.url();
    let (browser, visited) = browser(&guarded);
    let (first, again) = (("Log in now? [Y/n]", "\n"), ("Log in again? [y/N]", "y\n"));
    for (command, (question, answer_to_it), logs_out) in [
        (&["ping", "--url", &url][..], first, false),
        (&["call", "echo", "--url", &url], again, true),
        (&["tools", "--url", &url], first, true),
    ] {
        let (mut call, screen, mut typing) = guarded.at_terminal(command, &browser);
        screen.wait_for(question);
        typing.write_all(answer_to_it.as_bytes()).unwrap();
        let opened = wait_for("the browser", || fs::read_to_string(&visited).ok().filter(|urls| urls.ends_with('\n')));
        assert_eq!(visit(&answer(opened.trim_end())).status, 200);
        assert_eq!(call.wait().unwrap().code(), Some(0), "{}", screen.text());
        let listed = guarded.run(&["whoami", "--json"]).json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        if logs_out {
            assert_eq!(guarded.run(&["logout", "--url", &url]).code(), 0);
        }
        fs::remove_file(&visited).unwrap();
    }
}

#[test]
fn a_server_that_wants_more_scopes_gets_none_by_default() {
    let guarded = Guarded::start().configured();
    guarded.server.require("", "read").require("tools/call echo", "write");
    let url = guarded.server.url();
    guarded.log_in(&["--url", &url, "--scope", "read"]);
    let before = guarded.authorization.requests().len();
    for (target, server) in [(["--url", &*url], url.clone()), (["--server", "notes"], format!("notes at {url}"))] {
        for typed in ["\n", "n\n", "\u{4}"] {
            let words = [&["info"][..], &target].concat();
            guarded.server.require("server/discover", "write");
            let (mut call, screen, mut typing) = guarded.at_terminal(&words, "/bin/false");
            screen.wait_for("Log in again? [y/N]");
            let lines = format!(
                "{server} wants you to log in with more scopes.\n  scopes so far: read\n  new scopes:    write\n"
            );
            assert!(screen.text().replace('\r', "").contains(&lines), "{}", screen.text());
            typing.write_all(typed.as_bytes()).unwrap();
            assert_eq!(call.wait().unwrap().code(), Some(6), "{}", screen.text());
            screen.wait_for("log in first: mcpwire login");
        }
    }
    assert_eq!(guarded.authorization.requests().len(), before, "the authorization server was not asked");
    let without_terminal = guarded.run(&["info", "--url", &url]);
    assert_eq!(without_terminal.code(), 6, "{without_terminal:?}");
    assert!(without_terminal.stderr.contains("mcpwire login --url"), "{without_terminal:?}");
    assert!(without_terminal.stderr.contains("--scope write"), "{without_terminal:?}");
    let (browser, visited) = browser(&guarded);
    let (mut call, screen, mut typing) = guarded.at_terminal(&["info", "--url", &url], &browser);
    screen.wait_for("Log in again? [y/N]");
    typing.write_all(b"y\n").unwrap();
    let opened = wait_for("the browser", || fs::read_to_string(&visited).ok().filter(|urls| urls.ends_with('\n')));
    assert_eq!(visit(&answer(opened.trim_end())).status, 200);
    assert_eq!(call.wait().unwrap().code(), Some(0), "{}", screen.text());
}

#[test]
fn a_terminal_that_says_no_gets_the_command() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    for (typed, status) in [("n\n", 6), ("\u{4}", 6)] {
        let (mut call, screen, mut typing) = guarded.at_terminal(&["ping", "--url", &url], "/bin/false");
        screen.wait_for("Log in now? [Y/n]");
        typing.write_all(typed.as_bytes()).unwrap();
        assert_eq!(call.wait().unwrap().code(), Some(status), "{}", screen.text());
        screen.wait_for("log in first: mcpwire login --url");
    }
    let (mut call, screen, _typing) = guarded.at_terminal(&["ping", "--url", &url], "/bin/false");
    screen.wait_for("Log in now? [Y/n]");
    kill_process(Pid::from_child(&call), Signal::INT).unwrap();
    assert_eq!(call.wait().unwrap().code(), Some(130), "{}", screen.text());
}

#[test]
fn nobody_is_asked_without_a_terminal_or_if_that_is_said() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    for more in ["--stored-auth-only", "--json"] {
        let (mut call, screen, _typing) = guarded.at_terminal(&["ping", "--url", &url, more], "/bin/false");
        assert_eq!(call.wait().unwrap().code(), Some(6), "{}", screen.text());
        assert!(url_in(&screen.text()).is_none() && !screen.text().contains("[Y/n]"), "{}", screen.text());
    }
    // The input stays open, as that of a service may.
    let (running, _stdin) = Running::start_and_write(&guarded.words(&["ping", "--url", &url]));
    assert_eq!(running.finish().code(), 6);
    assert!(guarded.authorization.requests().is_empty(), "a call asks the authorization server nothing");
}
