//! The secret of a configured client is sent to the authorization server that the user has named, and to no other.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;

use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use serde_json::{Value, json};

use crate::support::configured::with_input;
use crate::support::guarded::{Guarded, answer, login_page, url_in, visit};
use crate::support::{Finished, Running, command, wait_for};

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

/// Imports the server as `notes`, with a client whose secret is in the environment variable `THE_SECRET`.
fn imported(options: &[&str]) -> Guarded {
    let guarded = Guarded::start();
    for id in ["mine", "typed"] {
        let client = Client::new(id).secret(format!("{SECRET}-{id}")).redirect_uri("http://127.0.0.1/callback");
        guarded.authorization.client(client);
    }
    guarded.authorization.deviate(Deviation::AnyLoopbackPort);
    let oauth = json!({"clientId": "mine", "clientSecret": "${THE_SECRET}"});
    let file = guarded.place().join("import.json");
    let whole = json!({"mcpServers": {"notes": {"type": "http", "url": guarded.server.url(), "oauth": oauth}}});
    fs::write(&file, whole.to_string()).expect("it is written");
    let import = ["server", "import", "--from", "claude-code", file.to_str().expect("a plain path")];
    let imported = begin_with_secrets(&guarded, &[&import, options].concat()).finish();
    assert_eq!(imported.code(), 0, "{imported:?}");
    guarded
}

/// Starts `mcpwire` with the secrets of both clients.
fn begin_with_secrets(guarded: &Guarded, arguments: &[&str]) -> Running {
    let mut command = command(&guarded.words(arguments));
    command.env("THE_SECRET", format!("{SECRET}-mine")).env("TYPED_SECRET", format!("{SECRET}-typed"));
    Running::start_command(command).0
}

fn log_in_with_secrets(guarded: &Guarded, arguments: &[&str]) -> Finished {
    let running = begin_with_secrets(guarded, arguments);
    let page = wait_for("the URL of the login page, or the end", || {
        let text = running.stderr_so_far();
        url_in(&text).or_else(|| text.contains("error:").then_some(text))
    });
    if page.starts_with("http") {
        assert_eq!(visit(&answer(&page)).status, 200);
    }
    running.finish()
}

#[test]
fn the_options_of_a_login_do_not_end_the_approval_of_an_imported_server() {
    let guarded = imported(&["--trust"]);
    let issuer = guarded.authorization.issuer();
    let unnamed = begin_with_secrets(&guarded, &["login", "notes"]).finish();
    assert_eq!(unnamed.code(), 2, "{unnamed:?}");
    assert!(unnamed.stderr.contains("--issuer URL"), "{unnamed:?}");
    assert_nothing_was_sent(&guarded);
    let named = log_in_with_secrets(&guarded, &["login", "notes", "--issuer", &issuer]);
    assert_eq!(named.code(), 0, "{named:?}");
    assert_eq!(configured_issuer(&guarded), json!(issuer));
    // It is still approved.
    let call = begin_with_secrets(&guarded, &["call", "notes__echo"]).finish();
    assert_eq!((call.code(), call.stdout.as_str()), (0, "hi\n"), "{call:?}");
}

#[test]
fn a_client_of_the_command_line_leaves_the_approval_and_the_secret_of_the_imported_one_alone() {
    let guarded = imported(&["--trust"]);
    let (issuer, before) = (guarded.authorization.issuer(), servers(&guarded));
    let typed = ["login", "notes", "--client-id", "typed", "--issuer", &issuer];
    let public = log_in_with_secrets(&guarded, &typed);
    assert_ne!(public.code(), 0, "the client has a secret, and none was named: {public:?}");
    let with_secret = [&typed[..], &["--client-secret-env", "TYPED_SECRET"]].concat();
    let with_method = [&with_secret[..], &["--client-auth-method", "client_secret_post"]].concat();
    for words in [&with_secret, &with_method] {
        let done = log_in_with_secrets(&guarded, words);
        assert_eq!(done.code(), 0, "{words:?}: {done:?}");
    }
    assert_eq!(servers(&guarded), before);
    let call = begin_with_secrets(&guarded, &["call", "notes__echo"]).finish();
    assert_eq!((call.code(), call.stdout.as_str()), (0, "hi\n"), "{call:?}");
    for request in guarded.authorization.requests_to(Endpoint::Token) {
        assert!(!format!("{request:?}").contains(&format!("{SECRET}-mine")), "{request:?}");
    }
}

#[test]
fn the_options_of_a_login_approve_nothing() {
    let guarded = imported(&[]);
    let (issuer, before) = (guarded.authorization.issuer(), servers(&guarded));
    let client = ["--client-id", "typed", "--client-secret-env", "TYPED_SECRET"];
    for options in [&["--issuer", &*issuer][..], &client, &["--redirect-uri", "http://localhost:3118/callback"]] {
        let refused = log_in_with_secrets(&guarded, &[&["login", "notes"], options].concat());
        assert_ne!(refused.code(), 0, "{refused:?}");
        assert!(refused.stderr.contains("needs your approval"), "{refused:?}");
    }
    assert_nothing_was_sent(&guarded);
    assert_eq!(servers(&guarded), before);
}
