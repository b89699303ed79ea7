//! `--url`: the same commands for a server over HTTP.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write, copy};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::thread;

use crate::support::http::Server;
use crate::support::{Finished, Running, command, mcpwire, scratch, wait_for};
use rustix::process::Signal;
use serde_json::{Value, json};

/// The options before the other arguments of a command for this server.
fn to(server: &Server, arguments: &[&str]) -> Finished {
    mcpwire(&[arguments, &["--url", &server.url]].concat())
}

fn wait_until_traced(path: &str, what: &str) {
    wait_for(what, || std::fs::read_to_string(path).is_ok_and(|trace| trace.contains(what)).then_some(()));
}

#[test]
fn all_commands_work_in_both_eras() {
    let server = Server::start();
    for (protocol, era, version) in
        [("auto", "modern", "2026-07-28"), ("legacy", "legacy", "2025-11-25"), ("2025-03-26", "legacy", "2025-03-26")]
    {
        let to = |arguments: &[&str]| to(&server, &[arguments, &["--protocol", protocol]].concat());
        let info = to(&["info", "--json"]).json();
        assert_eq!((&info["era"], &info["protocolVersion"]), (&json!(era), &json!(version)));
        assert!(to(&["tools"]).stdout.contains("add"));
        assert_eq!(to(&["call", "add", r#"{"a":2,"b":40}"#]).stdout, "42\n");
        let slow = to(&["call", "slow", r#"{"seconds":1}"#]);
        assert_eq!((slow.code(), slow.stdout.as_str()), (0, "Waited 1 s.\n"), "{slow:?}");
        let failed = to(&["call", "fail", r#"{"message":"the disk is full"}"#, "--json"]);
        assert_eq!((failed.code(), &failed.json()["isError"]), (1, &json!(true)));
        assert_eq!(to(&["ping"]).code(), 0);
        let unknown = to(&["call", "nonesuch", "--json"]);
        assert_eq!((unknown.code(), &unknown.error()["code"]), (4, &json!("NOT_FOUND")));
    }
}

#[test]
fn a_call_that_takes_too_long_is_5() {
    let server = Server::start();
    // On a busy machine, the connection alone takes a part of this time.
    let finished = to(&server, &["call", "slow", r#"{"seconds":600}"#, "--timeout", "5s"]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (5, ""), "{finished:?}");
    assert!(server.log_line().contains("was cancelled"));
}

#[test]
fn an_interrupt_is_130_and_the_server_is_told() {
    for protocol in ["modern", "legacy"] {
        let (server, trace) = (Server::start(), scratch(&format!("interrupted-{protocol}")));
        let trace = trace.to_str().expect("a path of text");
        let arguments = ["call", "slow", r#"{"seconds":600}"#, "--protocol", protocol, "--trace", trace];
        let running = Running::start(&[&arguments[..], &["--url", &server.url]].concat(), "");
        wait_until_traced(trace, "\"notifications/progress\"");
        running.signal(Signal::INT);
        assert_eq!(running.finish().code(), 130);
        assert!(server.log_line().contains("was cancelled"));
    }
}

#[test]
fn a_server_that_goes_in_mid_call_is_4() {
    let (server, trace) = (Server::start(), scratch("gone"));
    let trace = trace.to_str().expect("a path of text");
    let arguments = ["call", "slow", r#"{"seconds":600}"#, "--trace", trace, "--json", "--url", &server.url];
    let running = Running::start(&arguments, "");
    wait_until_traced(trace, "\"notifications/progress\"");
    drop(server);
    let finished = running.finish();
    assert_eq!(finished.code(), 4, "{finished:?}");
    let error = finished.error();
    assert_eq!((&error["code"], &error["field"]), (&json!("NETWORK_ERROR"), &json!("connection")), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_3_and_what_to_do_is_said() {
    let url = Server::start().url.clone();
    let finished = mcpwire(&["tools", "--url", &url]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (3, ""), "{finished:?}");
    for words in ["cannot be reached", "check that the server is running"] {
        assert!(finished.stderr.contains(words), "{finished:?}");
    }
    let error = mcpwire(&["tools", "--url", &url, "--json"]).error();
    assert_eq!((&error["code"], &error["field"]), (&json!("SERVICE_UNAVAILABLE"), &json!("connection")), "{error}");
}

/// Starts a server that answers every request with this response. Returns its address, and a channel of the requests' headers.
fn answering(head: &'static str) -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (sender, heads) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
            let mut asked = String::new();
            while !asked.ends_with("\r\n\r\n") {
                if reader.read_line(&mut asked).unwrap_or(0) == 0 {
                    break;
                }
            }
            let _ = sender.send(asked);
            let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (url, heads)
}

#[test]
fn who_must_be_authorized_is_told_and_no_secret_is_shown() {
    for (head, words) in [
        ("401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"mcp\"", ["authorization is needed", "--bearer-env"]),
        ("403 Forbidden", ["authorization is needed", "not enough"]),
    ] {
        let (url, heads) = answering(head);
        let trace = scratch("secrets");
        let arguments = ["info", "--url", &url, "--header", "X-Key: hunter2", "--bearer-env", "MCPWIRE_TEST_TOKEN"];
        for more in [&[][..], &["--json"]] {
            let output = command(&[&arguments[..], &["--trace", trace.to_str().expect("text")], more].concat())
                .env("MCPWIRE_TEST_TOKEN", "hunter3")
                .output()
                .expect("it runs");
            assert_eq!(output.status.code(), Some(3));
            let head = heads.recv().expect("it was asked").to_lowercase();
            assert!(head.contains("\r\nx-key: hunter2\r\n"), "{head}");
            assert!(head.contains("\r\nauthorization: bearer hunter3\r\n"), "{head}");
            let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(words.iter().all(|words| stderr.contains(words)), "{stderr}");
            let traced = std::fs::read_to_string(&trace).expect("a trace");
            assert!(traced.contains("server/discover"), "{traced}");
            assert!(![&stdout, &stderr, &traced.into()].iter().any(|text| text.contains("hunter")), "{stderr}");
            if !more.is_empty() {
                let error: Value = serde_json::from_str(&stderr).expect("one JSON object");
                assert_eq!(error["field"], "authorization", "{error}");
            }
        }
    }
}

#[test]
fn wrong_usage_is_2_and_shows_no_secret() {
    let with_password = ["info", "--url", "http://user:hunter2@localhost/mcp"];
    for (arguments, field) in [
        (&["info", "--url", "ftp://localhost/"][..], "url"),
        (&["info", "--url", "localhost:80"], "url"),
        (&with_password, "url"),
        (&["info", "--url", "http://localhost/", "--header", "hunter2"], "header"),
        (&["info", "--url", "http://localhost/", "--header", ": hunter2"], "header"),
        (&["info", "--url", "http://localhost/", "--header", "Bad Name: hunter2"], "header"),
        (&["info", "--url", "http://localhost/", "--header", "Mcp-Session-Id: hunter2"], "header"),
        (&["info", "--url", "http://localhost/", "--header", "X: hunter2\u{7}"], "header"),
        (&["info", "--url", "http://localhost/", "--bearer-env", "MCPWIRE_SURELY_NOT_SET"], "bearer-env"),
        (&["info", "--url", "http://localhost/", "--env", "A=hunter2"], "env"),
        (&["info", "--url", "http://localhost/", "--cwd", "/"], "cwd"),
        (&["info", "--url", "http://localhost/", "--demo"], "url"),
        (&["info", "--demo", "--ca", "/ca.pem"], "ca"),
        (&["info", "--demo", "--proxy", "http://proxy:1"], "proxy"),
        (&["info", "--url", "http://localhost/", "--", "server"], "url"),
    ] {
        let finished = mcpwire(&[arguments, &[]].concat());
        assert_eq!((finished.code(), finished.stdout.as_str()), (2, ""), "{arguments:?} {finished:?}");
        let mut words = arguments.to_vec();
        words.insert(1, "--json");
        let finished = mcpwire(&words);
        assert_eq!(finished.code(), 2, "{arguments:?} {finished:?}");
        let error = finished.error();
        assert_eq!(
            (&error["code"], &error["field"]),
            (&json!("VALIDATION_ERROR"), &json!(field)),
            "{arguments:?} {error}"
        );
        assert!(!finished.stderr.contains("hunter"), "{finished:?}");
    }
}

#[test]
fn a_certificate_file_that_cannot_be_used_is_named() {
    for option in ["--ca", "--client-cert"] {
        let finished = mcpwire(&["info", "--url", "https://localhost:1/mcp", option, "/not/there.pem"]);
        assert_eq!(finished.code(), 3, "{finished:?}");
        assert!(finished.stderr.contains("/not/there.pem"), "{finished:?}");
    }
}

#[test]
fn a_proxy_of_the_command_line_is_used() {
    let (url, heads) = answering("403 Forbidden");
    let proxy = url.trim_end_matches("/mcp");
    let finished = mcpwire(&["info", "--url", "http://somewhere.example/mcp", "--proxy", proxy]);
    assert_eq!(finished.code(), 3, "{finished:?}");
    let head = heads.recv().expect("the proxy is asked");
    assert!(head.starts_with("POST http://somewhere.example/mcp "), "{head}");
}

#[test]
fn a_server_may_be_at_a_unix_socket() {
    let (server, path) = (Server::start(), scratch("server.sock"));
    let listener = UnixListener::bind(&path).expect("a socket");
    let authority = server.authority().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(&authority).expect("the server listens");
            let (mut from, mut to) = (client.try_clone().expect("a handle"), server.try_clone().expect("a handle"));
            thread::spawn(move || copy(&mut from, &mut to));
            thread::spawn(move || copy(&mut &server, &mut &client));
        }
    });
    let path = path.to_str().expect("a path of text");
    let arguments = ["call", "add", r#"{"a":2,"b":40}"#, "--url", "http://localhost/mcp", "--unix-socket"];
    assert_eq!(mcpwire(&[&arguments[..], &[path]].concat()).stdout, "42\n");
    let missing = mcpwire(&[&arguments[..], &["/nonexistent.sock"]].concat());
    assert_eq!(missing.code(), 3);
    assert!(missing.stderr.contains("/nonexistent.sock"), "{missing:?}");
}

#[test]
fn an_address_that_others_can_listen_in_on_is_warned_of() {
    // All addresses of this machine, which is not the same as the loopback one; and a port that nobody has.
    let exposed = ["info", "--url", "http://0.0.0.0:1/mcp"];
    assert!(mcpwire(&exposed).stderr.contains("warning: http:// is not encrypted"));
    let json = mcpwire(&[&exposed[..], &["--json"]].concat());
    assert_eq!(json.error()["field"], "connection", "standard error is one JSON object");
    assert!(!mcpwire(&["info", "--url", "http://127.0.0.1:1/mcp"]).stderr.contains("warning"));
}
