//! The testkit's streams in memory: bounded, woken, and closed by either side; and its server on them under real runtimes, in real time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcpwire_driver::protocol::{CallTool, CallToolParams, Notification, RequestOptions};
use mcpwire_driver::{ConnectOptions, ErrorKind, McpClient};
use mcpwire_testkit::{PipeReader, PipeWriter, ScriptedResponse, ScriptedServer, Testkit, VirtualTime, duplex, pipe};
use mcpwire_tests::asynchronous::{AsyncStd, Host, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::watched;
use serde_json::json;
use smol::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

#[test]
fn a_pipe_holds_no_more_than_its_capacity() {
    let (mut reader, mut writer) = pipe(4);
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"hello")), Some(4));
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"o")), None);
    let mut buf = [0; 3];
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(3));
    assert_eq!(&buf, b"hel");
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"o")), Some(1));
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(2));
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), None);
}

#[test]
fn a_pipe_of_no_capacity_holds_one_byte() {
    let (_reader, mut writer) = pipe(0);
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"hello")), Some(1));
}

#[test]
fn whoever_waits_is_woken() {
    let time = VirtualTime::new();
    let (reader, writer) = pipe(7);
    time.spawn(async move { write_all(writer, &pattern()).await.expect("it is read") });
    assert_eq!(time.run(read_to_end(reader)), pattern());
    assert_eq!(time.elapsed().as_nanos(), 0);
}

#[test]
fn a_writer_that_has_gone_ends_what_is_read() {
    let (mut reader, mut writer) = pipe(16);
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"bye")), Some(3));
    writer.close();
    let error = VirtualTime::new().run(write_all(writer, b"more")).expect_err("it is closed");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    let mut buf = [0; 8];
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(3));
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(0));
}

#[test]
fn a_reader_that_has_gone_breaks_the_pipe_of_who_waits() {
    let time = VirtualTime::new();
    let (mut reader, writer) = pipe(1);
    let sleep = time.sleep(Duration::from_secs(1));
    time.spawn(async move {
        sleep.await;
        reader.close();
    });
    let error = time.run(write_all(writer, b"hello")).expect_err("nobody reads");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[test]
fn each_end_of_a_duplex_hears_the_other() {
    let time = VirtualTime::new();
    let (ours, theirs) = duplex(64);
    time.spawn(async move {
        write_all(ours.writer, b"to them").await.expect("they read");
        assert_eq!(read_to_end(ours.reader).await, b"to us");
    });
    time.run(async {
        assert_eq!(read_to_end(theirs.reader).await, b"to them");
        write_all(theirs.writer, b"to us").await.expect("we read");
    });
}

#[test]
fn a_client_talks_through_one_byte() {
    let server = ScriptedServer::new().tool("echo", |args| args.member::<String>("message").unwrap_or_default());
    let kit = Testkit::new(server).capacity(1);
    let result = kit.run(async |client| client.call_tool("echo", json!({"message": "slowly"})).await);
    assert_eq!(result.expect("it is answered").text().as_str(), "slowly");
}

#[test]
fn both_ways_may_be_full_at_once() {
    let server = ScriptedServer::new().tool("echo", |args| args.member::<String>("message").unwrap_or_default());
    let kit = Testkit::new(server);
    let message = "x".repeat(1 << 20);
    kit.run(async |client| {
        let arguments = json!({"message": message});
        let params = CallToolParams { name: "echo", arguments: &arguments };
        let send = || client.begin::<CallTool>(&params, &RequestOptions::new()).expect("it is sent");
        let pending = [(); 8].map(|()| send());
        for answer in pending {
            assert_eq!(answer.await.expect("it is answered").text().as_str().len(), message.len());
        }
    });
}

/// What comes of a poll, if it is ready.
fn now<T>(poll: impl FnOnce(&mut Context<'_>) -> Poll<io::Result<T>>) -> Option<T> {
    match poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result.expect("it does not fail")),
        Poll::Pending => None,
    }
}

async fn write_all(mut writer: PipeWriter, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(bytes).await?;
    AsyncWriteExt::close(&mut writer).await
}

async fn read_to_end(mut reader: PipeReader) -> Vec<u8> {
    let mut all = Vec::new();
    reader.read_to_end(&mut all).await.expect("it can be read");
    all
}

fn pattern() -> Vec<u8> {
    (0..=255).cycle().take(10_000).collect()
}

// Under real runtimes.

fn a_scripted_server_serves<H: Host>() {
    watched(|| {
        let host = H::start();
        let server = ScriptedServer::new()
            .tool("echo", |args| args.member::<String>("message").unwrap_or_default())
            .tool("slow", |_| ScriptedResponse::new().wait(Duration::from_millis(200)).text("at last"))
            .tool("never", |_| ScriptedResponse::new());
        let (ours, theirs) = duplex(1024);
        host.block_on(async {
            H::spawn(server.serve::<H::Runtime>(theirs.reader, theirs.writer));
            let client = McpClient::<H::Runtime>::over(ours.reader, ours.writer, ConnectOptions::default());
            client.initialize().await.expect("it opens");
            let message = "x".repeat(100_000);
            let result = client.call_tool("echo", json!({"message": message})).await.expect("it is answered");
            assert_eq!(result.text().as_str(), message);
            let never = client.call_tool("never", json!({})).timeout(Duration::from_millis(50));
            assert_eq!(never.await.expect_err("it has no answer").kind(), ErrorKind::Timeout);
            let result = client.call_tool("slow", json!({})).await.expect("it is answered");
            assert_eq!(result.text().as_str(), "at last");
            let mut notifications = client.notifications();
            server.notify("notifications/tools/list_changed", ());
            assert_eq!(notifications.next().await, Some(Notification::ToolsChanged));
            client.shutdown().await.expect("it ends");
            while server.connections() > 0 {
                H::sleep(Duration::from_millis(1)).await;
            }
        });
        assert_eq!(server.cancellations().len(), 1);
    });
}

#[test]
fn tokio_current() {
    a_scripted_server_serves::<TokioCurrent>();
}

#[test]
fn tokio_multi() {
    a_scripted_server_serves::<TokioMulti>();
}

#[test]
fn smol() {
    a_scripted_server_serves::<Smol>();
}

#[test]
fn async_std() {
    a_scripted_server_serves::<AsyncStd>();
}

#[test]
fn a_client_of_a_real_runtime_lives_in_virtual_time() {
    async fn program(client: &mcpwire_tokio::McpClient) -> Result<String, mcpwire_tokio::Error> {
        Ok(client.call_tool("slow", json!({})).timeout(Duration::from_secs(7200)).await?.text().into_string())
    }
    let server = ScriptedServer::new()
        .tool("slow", |_| ScriptedResponse::new().wait(Duration::from_secs(3_000)).text("at last"));
    let kit = Testkit::<mcpwire_tokio::Tokio>::for_runtime(server);
    let told = kit.run(async |client| program(&client).await);
    assert_eq!(told.expect("it is answered"), "at last");
    assert_eq!(kit.time().elapsed(), Duration::from_secs(3_000));
}
