//! `--url`: the same commands for a server over HTTP.
#![cfg(unix)]

use std::fs;

use crate::support::servers::{Answering, DemoServer};
use crate::support::{Place, command, mcpwire, run};

#[test]
fn a_server_that_is_not_there_is_3_and_what_to_do_is_said() {
    let tools = format!("tools --url {}", DemoServer::start().url);
    mcpwire(&tools).gives(3, "").says(&["cannot be reached", "Check that the server is running"]);
    mcpwire(&format!("{tools} --json")).error_is("SERVICE_UNAVAILABLE", "connection");
}

#[test]
fn who_must_be_authorized_is_told_and_no_secret_is_shown() {
    for (status, says) in [
        (
            "401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"mcp\"",
            ["The token that was sent is not", "--bearer-env"],
        ),
        ("403 Forbidden", ["The token that was sent does not allow this", "mcpwire login --url http://"]),
    ] {
        let (server, place) = (Answering::start(status, ""), Place::new());
        let trace = place.file("trace");
        let secrets = "--header X-Key:hunter2 --bearer-env MCPWIRE_TEST_TOKEN";
        for format in ["", "--json"] {
            let line = format!("info --url {} --trace {trace} {secrets} {format}", server.url);
            let finished = run(command(&line).env("MCPWIRE_TEST_TOKEN", "hunter3"));
            let head = server.heads.recv().expect("it was asked").to_lowercase();
            assert!(head.contains("\r\nx-key: hunter2\r\n"), "{head}");
            assert!(head.contains("\r\nauthorization: bearer hunter3\r\n"), "{head}");
            let finished = finished.exits(3).says(&["failed: the server"]).hides(&["hunter"]);
            let traced = fs::read_to_string(&trace).expect("a trace");
            assert!(traced.contains("server/discover") && !traced.contains("hunter"), "{traced}");
            if format.is_empty() {
                finished.says(&says);
            } else {
                assert_eq!(finished.error()["field"], "authorization", "{finished:?}");
            }
        }
    }
}

#[test]
fn a_certificate_or_a_socket_that_cannot_be_used_is_named() {
    for (scheme, option, exit) in [("https", "--ca", 2), ("https", "--client-cert", 2), ("http", "--unix-socket", 3)] {
        let info = mcpwire(&format!("info --url {scheme}://localhost:1/mcp {option} /not/there"));
        info.exits(exit).says(&["/not/there"]);
    }
    mcpwire("info --url https://localhost:1/mcp --ca /etc/passwd").exits(2).says(&["CA certificate", "/etc/passwd"]);
}

#[test]
fn an_address_that_others_can_listen_in_on_is_warned_of() {
    // All addresses of this machine, which is not the same as the loopback one; and a port that nobody has.
    mcpwire("info --url http://0.0.0.0:1/mcp").says(&["warning: http:// is not encrypted"]);
    mcpwire("info --url http://0.0.0.0:1/mcp --json").error_has("field", "connection");
    mcpwire("info --url http://127.0.0.1:1/mcp").hides(&["warning"]);
}
