//! An async connection needs no process either: here it is a TCP socket of the runtime's own, with a server at its other
//! end.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcpwire_driver::protocol::{CallTool, CallToolParams, Config, Era, RequestOptions};
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::on_every_async_adapter;
use serde_json::json;

fn both_eras_are_spoken<H: Host>() {
    for (words, era) in [("well-behaved", Era::Legacy), ("well-behaved --modern", Era::Modern)] {
        let (socket, mut server) = socket_to(words);
        H::start().block_on(async {
            let client = H::over(socket, options());
            assert_eq!(client.initialize().await.expect("it answers").era, era);
            assert!(client.definition().is_none() && client.pid().is_none() && client.is_running());
            assert_eq!(client.server_name(), "stream");
            assert!(client.list_tools().await.expect("it has tools").len() > 3);
            let big = "x".repeat(1 << 20);
            let result = client.call_tool("echo", json!({"message": big})).await.expect("it answers");
            assert_eq!(result.text().as_str().len(), 1 << 20);
            client.shutdown().await.expect("it ends");
            assert!(!client.is_running());
        });
        assert!(server.wait().expect("it is ours").success());
    }
}

fn dropping_the_client_ends_the_stream<H: Host>() {
    let (socket, mut server) = socket_to("well-behaved");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        let mut notifications = client.notifications();
        drop(client);
        assert!(notifications.next().await.is_none());
        assert!(::smol::unblock(move || server.wait()).await.expect("it is ours").success());
    });
}

fn a_server_that_stops_reading_holds_nobody_up<H: Host>() {
    let (socket, mut server) = socket_to("stops-reading");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        client.list_tools().await.expect("this much it reads");
        // More than the buffers of a socket take.
        let arguments = json!({"message": "x".repeat(16 << 20)});
        let params = CallToolParams { name: "echo", arguments: &arguments };
        let options = RequestOptions::new().timeout(Duration::from_millis(500));
        let call = client.begin::<CallTool>(&params, &options).expect("it is on its way");
        assert_eq!(call.await.unwrap_err().kind(), ErrorKind::Timeout);
        client.shutdown().await.expect("it ends");
    });
    server.kill().expect("it is ours");
    server.wait().expect("it is ours");
}

fn the_end_of_the_stream_ends_the_calls<H: Host>() {
    let (socket, mut server) = socket_to("dies-in-call 7");
    H::start().block_on(async {
        let client = H::over(socket, options());
        client.initialize().await.expect("it answers");
        let mut notifications = client.notifications();
        let error = client.call_tool("echo", ()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        assert!(notifications.next().await.is_none());
        assert!(!client.is_running());
        client.shutdown().await.expect("there is nothing to end");
    });
    assert_eq!(server.wait().expect("it is ours").code(), Some(7));
}

on_every_async_adapter!(
    both_eras_are_spoken,
    dropping_the_client_ends_the_stream,
    a_server_that_stops_reading_holds_nobody_up,
    the_end_of_the_stream_ends_the_calls,
);

fn options() -> ConnectOptions {
    ConnectOptions::new(Config::new("mcpwire-tests", "1.0"))
}

fn socket_to(words: &str) -> (TcpStream, Child) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let ours = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it is listened to");
    let (theirs, _) = listener.accept().expect("it is called");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .args(words.split_whitespace())
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    (ours, server)
}
