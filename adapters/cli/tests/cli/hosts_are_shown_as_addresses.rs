//! A host that is a number is shown as the address that it means, where the user decides on it.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Stdio;

use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use rustix::process::Signal;
use serde_json::json;

use crate::support::guarded::Guarded;
use crate::support::terminal::Terminal;
use crate::support::{Running, command, mcpwire, scratch};

#[test]
fn the_approval_of_an_imported_server_names_the_address() {
    let place = scratch("addresses");
    let file = scratch("addresses.json");
    let servers = json!({"mcpServers": {"notes": {"url": "https://0x7f.1/mcp?x=y"}}});
    fs::write(&file, servers.to_string()).unwrap();
    let place = ["--config-dir", place.to_str().unwrap()];
    let terminal = Terminal::open();
    let mut import = command(&[&["server", "import", file.to_str().unwrap()][..], &place].concat());
    import.stdin(terminal.other_end()).stderr(terminal.other_end()).stdout(Stdio::null());
    let mut import = import.spawn().unwrap();
    let screen = terminal.screen();
    screen.wait_for("Approve? [y/N]");
    assert!(screen.text().contains("https://0x7f.1/mcp?x=y (the host 127.0.0.1)"), "{}", screen.text());
    import.kill().unwrap();
    import.wait().unwrap();
    let imported = mcpwire(&[&["server", "import", file.to_str().unwrap()][..], &place].concat());
    assert_eq!(imported.code(), 0, "{imported:?}");
    let shown = mcpwire(&[&["server", "show", "notes"][..], &place].concat());
    assert!(shown.stdout.contains("https://0x7f.1/mcp?x=y (the host 127.0.0.1)"), "{shown:?}");
}

#[test]
fn the_page_of_a_login_is_shown_with_its_address() {
    let guarded = Guarded::start();
    let issuer = guarded.authorization.issuer();
    let endpoint = |endpoint| guarded.authorization.endpoint(endpoint);
    let metadata = json!({
        "issuer": issuer, "authorization_endpoint": "https://2130706433/authorize",
        "token_endpoint": endpoint(Endpoint::Token), "registration_endpoint": endpoint(Endpoint::Registration),
        "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
    });
    guarded
        .authorization
        .on_request(move |request| request.url.contains("/.well-known/").then(|| HttpAnswer::json(200, &metadata)));
    let login = guarded.run(&["login", "--no-browser", "--url", &guarded.server.url()]);
    assert!(login.stderr.contains("https://2130706433/authorize?"), "{login:?}");
    assert!(login.stderr.contains(" (the host 127.0.0.1)\n"), "{login:?}");
}

#[test]
fn the_page_for_a_code_is_shown_with_its_address() {
    let guarded = Guarded::start();
    let device = json!({
        "device_code": "code", "user_code": "ABCD", "verification_uri": "https://0177.0.0.1/device",
        "verification_uri_complete": "https://0177.1/device?user_code=ABCD", "expires_in": 600,
    });
    guarded.authorization.answer_next(Endpoint::DeviceAuthorization, HttpAnswer::json(200, &device));
    let (login, _stdin) =
        Running::start_and_write(&guarded.words(&["login", "--device", "--url", &guarded.server.url()]));
    login.wait_for_stderr("ABCD\n");
    login.signal(Signal::INT);
    let login = login.finish();
    for line in ["https://0177.0.0.1/device (the host 127.0.0.1)\n", "user_code=ABCD (the host 127.0.0.1)\n"] {
        assert!(login.stderr.contains(line), "{login:?}");
    }
}

#[test]
fn a_redirect_names_the_address() {
    let guarded = Guarded::start();
    guarded.server.on_request(|_| Some(HttpAnswer::status(307).header("location", "https://0x7f000001/mcp")));
    let info = guarded.run(&["info", "--url", &guarded.server.url()]);
    assert!(info.stderr.contains("to another origin: https://0x7f000001/mcp (the host 127.0.0.1)"), "{info:?}");
}
