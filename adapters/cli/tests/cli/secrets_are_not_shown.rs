//! Secrets of the command line are neither in errors nor in the trace, not even parts of them.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use crate::support::{command, mcpwire, scratch};

#[test]
fn a_trace_is_readable_for_its_owner_alone_and_has_no_secrets() {
    let trace = scratch("private-trace");
    fs::write(&trace, "an earlier one").unwrap();
    fs::set_permissions(&trace, fs::Permissions::from_mode(0o644)).unwrap();
    let path = trace.to_str().unwrap();
    let arguments = r#"{"message":"it is hunter22hunter22!"}"#;
    let line = ["call", "echo", arguments, "--demo", "--env", "TOKEN=hunter22hunter22", "--trace", path];
    let called = mcpwire(&line);
    assert_eq!((called.code(), called.stdout.as_str()), (0, "it is hunter22hunter22!\n"), "{called:?}");
    let traced = fs::read_to_string(&trace).unwrap();
    assert!(traced.contains("it is [secret]!") && !traced.contains("hunter22"), "{traced}");
    assert!(!traced.contains("an earlier one"), "{traced}");
    assert_eq!(fs::metadata(&trace).unwrap().permissions().mode() & 0o777, 0o600);
}

/// A server that answers each request with an error that contains this message.
fn refusing(message: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
            let (mut head, mut length) = (String::new(), 0);
            while reader.read_line(&mut head).unwrap_or(0) > 2 {
                let value = head.to_lowercase().strip_prefix("content-length: ").and_then(|n| n.trim().parse().ok());
                length = value.unwrap_or(length);
                head.clear();
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let request: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            let error = serde_json::json!({
                "jsonrpc": "2.0", "id": request["id"], "error": { "code": -32603, "message": message },
            });
            let body = error.to_string();
            let head = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n";
            let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        }
    });
    url
}

#[test]
fn a_token_that_the_server_repeats_is_replaced_whole_and_in_parts() {
    let url = refusing("Bearer tok3n is wrong, tok3n is; so is key-hunter4 of Custom key-hunter4");
    for more in [&[][..], &["--json"]] {
        let line =
            ["info", "--url", &url, "--header", "X-Key: Custom key-hunter4", "--bearer-env", "MCPWIRE_TEST_TOKEN"];
        let output = command(&[&line[..], more].concat()).env("MCPWIRE_TEST_TOKEN", "tok3n").output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("[secret]") && stderr.contains("is wrong"), "{stderr}");
        assert!(!stderr.contains("tok3n") && !stderr.contains("hunter"), "{stderr}");
    }
}

#[test]
fn a_key_in_the_url_that_the_server_repeats_is_replaced() {
    let url = refusing("no key hunter%2022 and no hunter 22, only k3y");
    let url = format!("{url}?key=k3y&note=hunter%2022");
    for more in [&[][..], &["--json"]] {
        let finished = mcpwire(&[&["info", "--url", &url][..], more].concat());
        assert!(finished.stderr.contains("no key [secret] and no [secret], only"), "{finished:?}");
        assert!(!finished.stderr.contains("hunter"), "{finished:?}");
    }
}

#[test]
fn the_password_of_a_proxy_that_it_repeats_is_replaced() {
    let place = scratch("proxy-secrets");
    let place = ["--config-dir", place.to_str().unwrap()];
    let url = refusing("bad password pass-w0rd%21, pass-w0rd! of me:pass-w0rd!, bWU6cGFzcy13MHJkIQ");
    let proxy = url.trim_end_matches("/mcp").replace("//", "//me:pass-w0rd%21@");
    let server = "http://somewhere.example/mcp";
    let added = mcpwire(&[&["server", "add", "notes", "--url", server][..], &place].concat());
    assert_eq!(added.code(), 0, "{added:?}");
    let of_variables = [
        &["info", "--url", server][..],
        &["info", "--server", "notes"],
        &["call", "notes__echo"],
        &["server", "doctor"],
    ];
    let in_arguments = [&["info", "--url", server, "--proxy", &proxy][..]];
    let lines = of_variables.map(|line| (line, Some(&proxy))).into_iter().chain(in_arguments.map(|line| (line, None)));
    for (line, variable) in lines {
        for more in [&[][..], &["--json"]] {
            let mut program = command(&[line, &place, more].concat());
            program.env_remove("no_proxy").env_remove("NO_PROXY").envs(variable.map(|proxy| ("http_proxy", proxy)));
            let output = program.output().unwrap();
            let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(shown.contains("bad password [secret], [secret] of [secret], [secret]"), "{line:?}: {shown}");
        }
    }
}

#[test]
fn a_command_that_is_suggested_has_no_query() {
    let place = scratch("hints");
    let place = ["--config-dir", place.to_str().unwrap()];
    for (line, advice) in [
        (&["whoami", "--url", "http://127.0.0.1:1/mcp?k=hunter2#x"][..], "--url 'http://127.0.0.1:1/mcp?...'"),
        (&["tools", "--url", "127.0.0.1:1/mcp?k=hunter2"], "Did you mean http://127.0.0.1:1/mcp?...?"),
        (&["login", "--url", "example.com?k=hunter2"], "Did you mean https://example.com?...?"),
    ] {
        let finished = mcpwire(&[line, &place].concat());
        assert!(finished.stderr.contains(advice) && !finished.stderr.contains("hunter"), "{line:?}: {finished:?}");
    }
}

#[test]
fn a_variable_that_a_dying_server_prints_is_replaced() {
    let script = "echo \"cannot use $TOKEN\" >&2; exit 1";
    let line = ["info", "--env", "TOKEN=hunter22hunter22", "--", "sh", "-c", script];
    for more in [&["--stderr", "tail"], &["--stderr", "show"]] {
        let finished = mcpwire(&[&line[..1], more, &line[1..]].concat());
        assert!(finished.stderr.contains("cannot use [secret]"), "{finished:?}");
    }
}
