//! A connection needs no process: any pair of streams does. Here it is a socket, with a server at its other end.
//!
//! Both halves of a socket are one: the other end sees the end of the stream when the socket is shut down, which is for
//! whoever made it.

use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcpwire_blocking::protocol::{Config, Era};
use mcpwire_blocking::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_tests::watched;
use serde_json::json;

#[test]
fn both_eras_are_spoken_over_a_socket() {
    watched(|| {
        for (words, era) in [(["well-behaved", ""], Era::Legacy), (["well-behaved", "--modern"], Era::Modern)] {
            let (mut client, socket, mut server) = open(&words);
            assert_eq!(client.initialize().expect("it answers").era, era);
            assert!(client.definition().is_none() && client.pid().is_none());
            assert_eq!(client.server_name(), "stream");
            assert!(client.list_tools().expect("it has tools").len() > 3);
            let big = "x".repeat(1 << 20);
            let result = client.call_tool("echo", json!({"message": big})).send().expect("it answers");
            assert_eq!(result.text().as_str().len(), 1 << 20);
            client.shutdown().expect("it ends");
            socket.shutdown(Shutdown::Both).expect("it is open");
            assert!(server.wait().expect("it is ours").success());
        }
    });
}

#[test]
fn a_server_that_stops_reading_holds_nobody_up() {
    watched(|| {
        let (mut client, _socket, mut server) = open(&["stops-reading"]);
        client.initialize().expect("it answers");
        client.list_tools().expect("this much it reads");
        let arguments = json!({"message": "x".repeat(4 << 20)});
        let outcome = client.call_tool("echo", arguments).timeout(Duration::from_secs(1)).send();
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Timeout);
        client.shutdown().expect("it ends");
        server.kill().expect("it is ours");
        server.wait().expect("it is ours");
    });
}

#[test]
fn the_end_of_the_stream_ends_the_call() {
    watched(|| {
        let (mut client, _socket, mut server) = open(&["dies-in-call", "7"]);
        client.initialize().expect("it answers");
        let outcome = client.call_tool("echo", ()).send();
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(!client.is_running());
        server.wait().expect("it is ours");
    });
}

fn open(words: &[&str]) -> (McpClient, UnixStream, Child) {
    let (ours, theirs) = UnixStream::pair().expect("there are sockets");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .args(words.iter().filter(|word| !word.is_empty()))
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let clone = || ours.try_clone().expect("there are descriptors");
    let options = ConnectOptions::new(Config::new("mcpwire-tests", "1.0"));
    let client = McpClient::over(clone(), clone(), options).expect("there are threads");
    (client, ours, server)
}
