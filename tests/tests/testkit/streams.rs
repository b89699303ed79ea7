//! The testkit's streams in memory: bounded, woken, and closed by either side.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_testkit::{PipeReader, PipeWriter, ScriptedServer, Testkit, VirtualTime, duplex, pipe};
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
    watched(|| {
        let time = VirtualTime::new();
        let (reader, writer) = pipe(7);
        time.spawn(async move { write_all(writer, &pattern()).await.expect("it is read") });
        assert_eq!(time.run(read_to_end(reader)), pattern());
        assert_eq!(time.elapsed().as_nanos(), 0);
    });
}

#[test]
fn a_writer_that_has_gone_ends_what_is_read() {
    let (mut reader, mut writer) = pipe(16);
    assert_eq!(now(|cx| Pin::new(&mut writer).poll_write(cx, b"bye")), Some(3));
    writer.close();
    let error = VirtualTime::new().run(write_all(writer, b"more")).expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    let mut buf = [0; 8];
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(3));
    assert_eq!(now(|cx| Pin::new(&mut reader).poll_read(cx, &mut buf)), Some(0));
}

#[test]
fn a_reader_that_has_gone_breaks_the_pipe_of_who_waits() {
    watched(|| {
        let time = VirtualTime::new();
        let (mut reader, writer) = pipe(1);
        let sleep = time.sleep(std::time::Duration::from_secs(1));
        time.spawn(async move {
            sleep.await;
            reader.close();
        });
        let error = time.run(write_all(writer, b"hello")).expect_err("nobody reads");
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn each_end_of_a_duplex_hears_the_other() {
    watched(|| {
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
    });
}

#[test]
fn a_client_talks_through_one_byte() {
    watched(|| {
        let server = ScriptedServer::new().tool("echo", |args| args.member::<String>("message").unwrap_or_default());
        let kit = Testkit::new(server).capacity(1);
        let result = kit.run(async |client| client.call_tool("echo", json!({"message": "slowly"})).await);
        assert_eq!(result.expect("it is answered").text().as_str(), "slowly");
    });
}

#[test]
fn both_ways_may_be_full_at_once() {
    watched(|| {
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
