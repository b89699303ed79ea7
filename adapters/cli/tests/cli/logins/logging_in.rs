//! `mcpwire login`: with a browser on this machine, with a browser elsewhere, with a code, and after an interrupt; why a login fails; and
//! commands that need a login, which end at once with exit status 6, or ask at a terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::login::{Browser, Guarded, agree, agree_at, answer, login_page, url_in, visit};
use crate::support::servers::{Answering, DemoServer};
use crate::support::{Place, Running, each};

/// A browser that does not open anything.
const NO_BROWSER: [(&str, &str); 1] = [("BROWSER", "/bin/false")];

/// The question to a user who is not logged in, and the one to a user whose login has not enough scopes.
const FIRST: &str = "Log in now? [Y/n]";
const AGAIN: &str = "Log in again? [y/N]";

#[test]
fn a_login_is_private_and_used_by_all_later_commands() {
    let guarded = Guarded::start().configured();
    let issuer = guarded.authorization.issuer();
    let shown = ["notes\n", &issuer, "registered by this program", "renewed automatically", "kept in"];
    guarded.assert_no_secret(guarded.log_in("notes").shows(&shown));
    let url = guarded.server.url();
    let by_name = ["tools", "call notes__echo", "call echo --server notes", "info --server notes", "server doctor"];
    let by_url = ["call echo", "call echo --stored-auth-only", "ping"].map(|words| format!("{words} --url {url}"));
    for line in by_name.into_iter().chain(by_url.iter().map(String::as_str)) {
        guarded.assert_no_secret(guarded.run(line).exits(0));
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
fn a_login_to_a_configured_server_uses_the_ca_file_and_the_proxy_of_the_command_line() {
    let (place, proxy) = (Place::new(), Answering::start("502 Bad Gateway", ""));
    place.run(&["server", "add", "notes", "--url", "https://somewhere.example/mcp"]).exits(0);
    place.run(&["login", "notes", "--ca", "/not/there.pem"]).says(&["/not/there.pem"]);
    place.run(&["login", "notes", "--proxy", proxy.url.trim_end_matches("/mcp")]).says(&["502"]);
    let head = proxy.heads.recv().expect("the proxy gets the requests");
    assert!(head.starts_with("CONNECT somewhere.example:443 "), "{head}");
}

#[test]
fn a_terminal_gets_its_browser_opened_and_nothing_else_does() {
    let guarded = Guarded::start().configured();
    let browser = Browser::new(&guarded);
    let variable = [("BROWSER", &*browser.program)];
    let login = guarded.at_terminal("login notes", &variable);
    assert_eq!(browser.url(), login_page(&login), "the URL is printed as well");
    agree(&login);
    login.finish().exits(0);

    guarded.run("logout notes").exits(0);
    let login = Running::start_open(guarded.command("login notes").envs(variable));
    agree(&login);
    login.finish().exits(0).says(&["Open this page in a browser on this machine"]);
    assert!(!browser.was_started());
}

#[test]
fn the_address_of_the_redirect_can_be_chosen() {
    let guarded = Guarded::start().configured();
    let running = guarded.begin("login notes --redirect-uri http://localhost/oauth/done");
    let address = answer(&login_page(&running));
    assert!(address.starts_with("http://localhost:") && address.contains("/oauth/done?"), "{address}");
    assert_eq!(visit(&address).0, 200);
    running.finish().exits(0);
    let elsewhere = guarded.run("login notes --redirect-uri https://example.com/callback --json");
    elsewhere.exits(2).error_has("field", "redirect-uri");
    // A port that another program has.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let login = guarded.run(&format!("login notes --redirect-uri http://{address}/callback"));
    login.exits(4).says(&[&address, "Another program"]);
}

#[test]
fn the_scopes_of_a_login_are_those_that_the_server_wants_or_the_user_chooses() {
    let guarded = Guarded::start().configured();
    guarded.server.scopes_supported(["read", "write", "admin"]).require("", "read");
    guarded.authorization.scopes_supported(["read", "write", "admin"]);
    let finished = guarded.log_in("notes --json");
    assert_eq!(finished.json()["scopes"], json!(["read"]), "{finished:?}");
    let step: Value = serde_json::from_str(finished.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(step["step"], "open_url", "{step}");
    guarded.log_in("notes --scope read --scope admin --json").json_has("/scopes", json!(["read", "admin"]));
}

#[test]
fn the_address_is_pasted_from_a_browser_elsewhere() {
    let words = "login notes --no-browser";
    for is_at_terminal in [false, true] {
        let guarded = Guarded::start().configured();
        let login = if is_at_terminal { guarded.at_terminal(words, &NO_BROWSER) } else { guarded.begin_open(words) };
        let address = answer(&login_page(&login));
        let login = login.answer("paste it here:", "what?\n");
        let finished = login.answer("That is not the address", &format!("  {address}  \n")).finish().exits(0);
        // A terminal shows what is typed.
        if !is_at_terminal {
            guarded.assert_no_secret(finished);
        }
        guarded.run("call notes__echo").gives(0, "hi\n");
    }
}

#[test]
fn an_input_that_ends_too_early_fails_the_login() {
    let guarded = Guarded::start();
    let login = format!("login --no-browser --url {}", guarded.server.url());
    for (input, status) in [("", 4), ("x\n", 4), ("x\ny\nz\nw\n", 2)] {
        guarded.run_with_input(&login, input).exits(status);
    }
}

#[test]
fn a_code_is_shown_and_waited_for() {
    let device = json!({
        "device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": "https://0177.1/device",
        "verification_uri_complete": "https://0177.1/device?user_code=WDJB-MJHT", "expires_in": 900, "interval": 1,
    });
    let token = json!({ "access_token": "access", "token_type": "Bearer", "expires_in": 60, "scope": "read" });
    each(["", "--json"], |format| {
        let guarded = Guarded::start().configured();
        guarded.authorization.answer_next(Endpoint::DeviceAuthorization, HttpAnswer::json(200, &device));
        guarded.authorization.answer_next(Endpoint::Token, HttpAnswer::json(200, &token));
        let page = "https://0177.1/device";
        let finished = guarded.run(&format!("login notes --device {format}")).exits(0);
        let finished = finished.says(&["WDJB-MJHT", page, &format!("{page}?user_code=WDJB-MJHT")]);
        if format.is_empty() {
            // There is no refresh token. The addresses of the hosts are shown.
            let hosts = ["/device (the host 127.0.0.1)\n", "user_code=WDJB-MJHT (the host 127.0.0.1)\n"];
            finished.says(&["expires:", "minutes"]).says(&hosts).shows(&["then log in again"]);
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
    for (way, says) in [("", "code_challenge="), ("--no-browser", "paste it here:"), ("--device", "WDJB")] {
        let running = guarded.begin_open(&format!("login notes {way}"));
        running.wait_for_stderr(says);
        running.interrupt().gives(130, "").says(&["interrupted"]);
    }
}

#[test]
fn a_login_that_was_killed_goes_on_unless_it_is_restarted() {
    let guarded = Guarded::start().configured();
    let kill = |login: &str| {
        let running = guarded.begin(login);
        let page = login_page(&running);
        running.signal(Signal::KILL);
        assert_eq!(running.finish().status.code(), None);
        page
    };
    let first = kill("login notes");
    assert_eq!(kill("login notes"), first);
    let restarted = kill("login notes --restart");
    assert_ne!(restarted, first);
    assert_eq!(guarded.authorization.clients().len(), 2, "the client is forgotten, too");
    // The address of the first tab of the browser ends the login, once.
    let address = answer(&restarted);
    for status in [0, 4] {
        guarded.run_with_input("login notes --no-browser", &address).exits(status);
    }
    guarded.run("call notes__echo").gives(0, "hi\n");
}

#[test]
fn a_page_is_shown_with_the_address_of_its_host() {
    let guarded = Guarded::start();
    let url = guarded.server.url();
    let endpoint = |endpoint| guarded.authorization.endpoint(endpoint);
    let metadata = json!({
        "issuer": guarded.authorization.issuer(), "authorization_endpoint": "https://2130706433/authorize",
        "token_endpoint": endpoint(Endpoint::Token), "registration_endpoint": endpoint(Endpoint::Registration),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
    });
    guarded
        .authorization
        .on_request(move |request| request.url.contains("/.well-known/").then(|| HttpAnswer::json(200, &metadata)));
    let login = guarded.run(&format!("login --no-browser --url {url}"));
    login.says(&["https://2130706433/authorize?", " (the host 127.0.0.1)\n"]);

    // So is the address of a redirect to another origin.
    guarded.server.on_request(|_| Some(HttpAnswer::status(307).header("location", "https://0x7f000001/mcp")));
    let info = guarded.run(&format!("info --url {url}"));
    info.says(&["to another origin: https://0x7f000001/mcp (the host 127.0.0.1)"]);
}

#[test]
fn each_command_says_how_to_log_in() {
    let guarded = Guarded::start().configured();
    let url = guarded.server.url();
    let by_url = format!("log in first: mcpwire login --url {url}\n");
    let by_name = "log in first: mcpwire login notes\n";
    let of_url = ["tools", "call echo", "ping", "listen", "whoami"].map(|words| format!("{words} --url {url}"));
    let of_name = ["tools --server notes", "info --server notes", "call notes__echo", "call echo --server notes"];
    let of_name = of_name.into_iter().chain(["server enable notes", "whoami notes"]).map(|line| (line, by_name));
    for (line, advice) in of_url.iter().map(|line| (line.as_str(), &*by_url)).chain(of_name) {
        let finished = guarded.run(line).gives(6, "");
        assert!(finished.stderr.ends_with(advice), "{finished:?}");
        guarded.run(&format!("{line} --json")).exits(6).error_has("code", "LOGIN_REQUIRED");
    }
    // Other servers may have tools, which are listed.
    guarded.run("tools").exits(3).says(&[by_name]);
    guarded.run("status").shows(&["needs-login"]);
}

#[test]
fn the_scopes_that_are_missing_are_in_the_command() {
    let guarded = Guarded::start().configured();
    guarded.server.require("tools/call echo", "write");
    guarded.log_in("notes");
    let url = guarded.server.url();
    for (call, command) in [
        (&*format!("call echo --url {url}"), &*format!("mcpwire login --url {url} --scope write\n")),
        ("call notes__echo", "mcpwire login notes --scope write\n"),
    ] {
        let finished = guarded.run(call).exits(6);
        assert!(finished.stderr.ends_with(command), "{finished:?}");
    }
    guarded.log_in("notes --scope write");
    guarded.run("call notes__echo").gives(0, "hi\n");
}

/// Answers the question of a command at a terminal with yes, and logs in with the browser.
fn log_in_when_asked(guarded: &Guarded, browser: &Browser, command: &str, question: &str, typed: &str) {
    let call = guarded.at_terminal(command, &[("BROWSER", &browser.program)]).answer(question, typed);
    agree_at(&browser.url());
    call.finish().exits(0);
}

#[test]
fn a_terminal_is_asked_and_the_call_goes_on_after_the_login() {
    let guarded = Guarded::start();
    guarded.server.require("tools/call echo", "write");
    let (url, browser) = (guarded.server.url(), Browser::new(&guarded));
    for (command, question, typed, logs_out) in
        [("ping", FIRST, "\n", false), ("call echo", AGAIN, "y\n", true), ("tools", FIRST, "\n", true)]
    {
        log_in_when_asked(&guarded, &browser, &format!("{command} --url {url}"), question, typed);
        let listed = guarded.run("whoami --json").json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        if logs_out {
            guarded.run(&format!("logout --url {url}")).exits(0);
        }
    }
}

#[test]
fn a_server_that_wants_more_scopes_gets_none_by_default() {
    let guarded = Guarded::start().configured();
    guarded.server.require("", "read").require("tools/call echo", "write");
    let url = guarded.server.url();
    let by_url = format!("info --url {url}");
    guarded.log_in(&format!("--url {url} --scope read"));
    let before = guarded.authorization.requests().len();
    guarded.server.require("server/discover", "write");
    for (info, server) in [(&*by_url, &*url), ("info --server notes", &format!("notes at {url}"))] {
        for typed in ["\n", "n\n", "\u{4}"] {
            let finished = guarded
                .at_terminal(info, &NO_BROWSER)
                .answer(AGAIN, typed)
                .finish()
                .exits(6)
                .says(&["log in first: mcpwire login"]);
            let scopes = "\r\n  scopes so far: read\r\n  new scopes:    write\r\n";
            finished.says(&[&format!("{server} wants you to log in with more scopes.{scopes}")]);
        }
    }
    assert_eq!(guarded.authorization.requests().len(), before, "the authorization server was not asked");
    guarded.run(&by_url).exits(6).says(&["mcpwire login --url", "--scope write"]);
    log_in_when_asked(&guarded, &Browser::new(&guarded), &by_url, AGAIN, "y\n");
}

#[test]
fn a_terminal_that_says_no_gets_the_command() {
    let guarded = Guarded::start();
    let ping = format!("ping --url {}", guarded.server.url());
    let answer = |typed| guarded.at_terminal(&ping, &NO_BROWSER).answer(FIRST, typed);
    for typed in ["n\n", "\u{4}"] {
        answer(typed).finish().exits(6).says(&["log in first: mcpwire login --url"]);
    }
    answer("").interrupt().exits(130);
}

#[test]
fn nobody_is_asked_without_a_terminal_or_if_that_is_said() {
    let guarded = Guarded::start();
    let ping = format!("ping --url {}", guarded.server.url());
    for more in ["--stored-auth-only", "--json"] {
        let call = guarded.at_terminal(&format!("{ping} {more}"), &NO_BROWSER).finish().exits(6);
        assert!(url_in(&call.stderr).is_none() && !call.stderr.contains("[Y/n]"), "{call:?}");
    }
    guarded.begin_open(&ping).finish().exits(6);
    assert!(guarded.authorization.requests().is_empty(), "a call asks the authorization server nothing");
}

#[test]
fn a_login_that_fails_has_its_status_and_says_why() {
    let [refused, other, broken] = ["a refusal", "another issuer", "a broken token endpoint"];
    for (case, status, code, says) in [
        (refused, 4, "SERVICE_UNAVAILABLE", &["access_denied"][..]),
        (other, 4, "SERVICE_UNAVAILABLE", &["another authorization server"]),
        (broken, 3, "NETWORK_ERROR", &["503", "/token"]),
    ] {
        let guarded = Guarded::start().configured();
        if case == broken {
            guarded.authorization.on_request(|request| request.url.contains("/token").then(|| HttpAnswer::status(503)));
        } else if case == other {
            guarded.authorization.deviate(Deviation::Iss("https://other.example".into()));
        } else {
            guarded.authorization.deviate(Deviation::RefuseLogins("access_denied".into()));
        }
        let running = guarded.begin("login notes --json");
        visit(&answer(&login_page(&running)));
        let finished = guarded.assert_no_secret(running.finish().exits(status)).says(says);
        let error: Value = serde_json::from_str(finished.stderr.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&error["code"], &error["field"]), (&json!(code), &json!("login")), "{case}: {error}");
        // Nothing is stored.
        guarded.run("whoami notes").exits(6);
    }
}

#[test]
fn a_login_that_cannot_begin_or_is_not_finished_says_what_to_do() {
    let (open, guarded) = (DemoServer::start(), Guarded::start().configured());
    let gone = DemoServer::start().url.clone();
    let origin = gone.trim_end_matches("/mcp");
    for (url, way, status, says) in [
        (&*gone, "", 3, origin),
        (&gone, "--no-browser", 3, origin),
        (&gone, "--device", 3, origin),
        (&open.url, "--no-browser", 2, "no login is needed"),
        (&open.url, "--device", 2, "no login is needed"),
    ] {
        guarded.run(&format!("login --url {url} {way}")).exits(status).says(&[says]).hides(&["regist"]);
    }
    let late = "nobody has logged in within 1ms; the same command goes on with this login, and --timeout";
    guarded.run("login notes --timeout 1ms").exits(5).says(&[late]).hides(&["regist"]);
    guarded.authorization.without_devices();
    guarded.run("login notes --device").exits(2).says(&["--no-browser"]);
    guarded.authorization.without_registration();
    guarded.run("login notes").exits(2).says(&["oauth.client_id"]);
    guarded.run(&format!("login --url {}", guarded.server.url())).exits(2).says(&["--client-id"]);
}

#[test]
fn a_client_that_is_registered_for_another_method_is_named_with_the_option() {
    let guarded = Guarded::start();
    let client = Client::new("mine").secret("secret-of-the-client").redirect_uri("http://127.0.0.1/callback");
    guarded.authorization.client(client.auth_method("client_secret_post")).deviate(Deviation::AnyLoopbackPort);
    let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
    let login = format!("login --url {url} --client-id mine --client-secret-env CLIENT_SECRET --issuer {issuer}");
    let running = Running::start(guarded.command(&login).env("CLIENT_SECRET", "secret-of-the-client"), "");
    visit(&answer(&login_page(&running)));
    running.finish().fails().says(&["client_secret_basic", "--client-auth-method"]);
}
