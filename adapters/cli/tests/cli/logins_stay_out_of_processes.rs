//! What a login leaves in other processes: the browser and the servers that the tool starts get no secret of it.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mcpwire_testkit::authorization::{Client, Deviation, Endpoint};
use serde_json::json;

use crate::support::guarded::{Guarded, answer, url_in, visit};
use crate::support::{command, wait_for};

const SECRET: &str = "secret-of-the-client";

const VARIABLES: [(&str, &str); 3] =
    [("CLIENT_SECRET", SECRET), ("HEADER_KEY", "key-in-a-header"), ("OTHER_VARIABLE", "kept")];

/// Writes a program that notes its arguments and its environment. Returns the program and the file with the notes.
fn noting(place: &Path, name: &str) -> (String, PathBuf) {
    let (program, notes) = (place.join(name), place.join(format!("{name}.notes")));
    let script = format!(
        "#!/bin/sh\ncat /proc/$$/cmdline /proc/$$/environ | tr '\\0' '\\n' > '{0}.new'\nmv '{0}.new' '{0}'\n",
        notes.display()
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    (program.display().to_string(), notes)
}

/// Fails if the notes of a process contain a secret of the login.
fn assert_no_secret(guarded: &Guarded, notes: &str) {
    let tokens = guarded.authorization.requests_to(Endpoint::Token);
    let verifiers: Vec<_> = tokens.iter().filter_map(|request| request.parameter("code_verifier")).collect();
    let secrets = guarded.authorization.secrets();
    assert!(!verifiers.is_empty() && secrets.len() >= 3, "{verifiers:?} {secrets:?}");
    for secret in secrets.iter().chain(&verifiers) {
        assert!(!notes.contains(secret.as_str()), "{secret} in {notes}");
    }
}

#[test]
fn the_browser_gets_the_url_of_the_login_and_no_secret() {
    let guarded = Guarded::start().configured();
    let (browser, notes) = noting(guarded.place(), "browser");
    let (mut login, screen, _typing) = guarded.at_terminal(&["login", "notes"], &browser);
    let notes = wait_for("the browser", || fs::read_to_string(&notes).ok());
    let page = wait_for("the URL", || url_in(&screen.text()));
    assert!(notes.contains(&page), "{notes}");
    assert_eq!(visit(&answer(&page)).status, 200);
    assert_eq!(login.wait().unwrap().code(), Some(0));
    assert_no_secret(&guarded, &notes);
    assert_no_secret(&guarded, &screen.text().replace(&page, ""));
}

#[test]
fn the_browser_does_not_get_the_variables_of_secrets() {
    for is_configured in [false, true] {
        let guarded = Guarded::start();
        let client = Client::new("client").secret(SECRET).redirect_uri("http://127.0.0.1/callback");
        guarded.authorization.client(client).deviate(Deviation::AnyLoopbackPort);
        let (url, issuer) = (guarded.server.url(), guarded.authorization.issuer());
        let mut words = vec!["login"];
        if is_configured {
            let oauth = json!({"client_id": "client", "client_secret": "${CLIENT_SECRET}", "issuer": issuer});
            let headers = json!({"X-Api-Key": "${HEADER_KEY}", "X-Language": "${OTHER_VARIABLE}"});
            let servers = json!({"mcpServers": {"notes": {"url": url, "oauth": oauth, "headers": headers}}});
            let file = guarded.place().join("import.json");
            fs::write(&file, servers.to_string()).unwrap();
            let mut import = command(&guarded.words(&["server", "import", file.to_str().unwrap(), "--trust"]));
            let imported = import.envs(VARIABLES).output().unwrap();
            assert!(imported.status.success(), "{imported:?}");
            words.push("notes");
        } else {
            words.extend(["--url", &url, "--issuer", &issuer]);
            words.extend(["--client-id", "client", "--client-secret-env", "CLIENT_SECRET"]);
        }
        let (browser, notes) = noting(guarded.place(), "browser");
        let variables = [&VARIABLES[..], &[("BROWSER", &*browser)]].concat();
        let (mut login, screen, _typing) = guarded.at_terminal_with(&words, &variables);
        let notes = wait_for("the browser", || fs::read_to_string(&notes).ok());
        let page = wait_for("the URL", || url_in(&screen.text()));
        assert!(notes.contains(&page) && notes.contains("OTHER_VARIABLE=kept"), "{notes}");
        assert!(!notes.contains("CLIENT_SECRET") && !notes.contains(SECRET), "{notes}");
        assert_eq!(notes.contains("HEADER_KEY"), !is_configured, "{notes}");
        assert_eq!(visit(&answer(&page)).status, 200);
        assert_eq!(login.wait().unwrap().code(), Some(0), "{}", screen.text());
    }
}

#[test]
fn servers_that_the_tool_starts_get_no_secret_of_a_login() {
    let guarded = Guarded::start();
    let redirect = "http://127.0.0.1:0/callback";
    guarded.authorization.client(Client::new("client").secret(SECRET).redirect_uri(redirect));
    guarded.log_in(&["--url", &guarded.server.url()]);
    let (server, notes) = noting(guarded.place(), "server");
    let mut program = command(&guarded.words(&["tools"]));
    // The variable that `--client-secret-env` would name.
    let output = program.env("CLIENT_SECRET", SECRET).args(["--", &server]).output().unwrap();
    assert_ne!(output.status.code(), Some(0), "the program is no server");
    let notes = fs::read_to_string(notes).expect("the server was started");
    assert!(notes.contains("PATH="), "{notes}");
    assert!(!notes.contains(SECRET), "{notes}");
    assert_no_secret(&guarded, &notes);
}

#[test]
fn the_browser_does_not_get_variables_that_are_secret_where_the_server_uses_them() {
    let guarded = Guarded::start();
    let url = format!("{}?api_key=${{QUERY_PART}}&lang=${{PLAIN_PART}}", guarded.server.url());
    let headers = json!({"X-Api-Key": "prefix-${HEADER_PART}-suffix", "X-Language": "${PLAIN_PART}"});
    let servers = json!({"mcpServers": {"notes": {"type": "http", "url": url, "headers": headers}}});
    let file = guarded.place().join("import.json");
    fs::write(&file, servers.to_string()).unwrap();
    let (browser, notes) = noting(guarded.place(), "browser");
    let variables = [
        ("QUERY_PART", "kept-in-the-query"),
        ("HEADER_PART", "kept-in-the-header"),
        ("PLAIN_PART", "german"),
        ("BROWSER", &*browser),
    ];
    let words = ["server", "import", "--from", "claude-code", file.to_str().unwrap(), "--trust"];
    let imported = command(&guarded.words(&words)).envs(variables).output().unwrap();
    assert!(imported.status.success(), "{imported:?}");
    let shown = command(&guarded.words(&["server", "show", "notes"])).envs(variables).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("german") && !shown.contains("kept-in"), "{shown}");
    let (mut login, screen, _typing) = guarded.at_terminal_with(&["login", "notes"], &variables);
    let notes = wait_for("the browser", || fs::read_to_string(&notes).ok());
    assert!(notes.contains("PLAIN_PART=german"), "{notes}");
    assert!(!notes.contains("QUERY_PART") && !notes.contains("HEADER_PART") && !notes.contains("kept-in"), "{notes}");
    login.kill().unwrap();
    login.wait().unwrap();
    drop(screen);
}
