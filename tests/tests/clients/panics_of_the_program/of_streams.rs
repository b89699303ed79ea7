//! In the streams that a connection was made of.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use ::smol::Async as Socket;
use ::smol::io::{AsyncRead, AsyncWrite};
use mcpwire_driver::protocol::ConnectError;
use mcpwire_driver::{ConnectOptions, Error, ErrorKind, McpClient};
use mcpwire_tests::asynchronous::{Host, begun};
use mcpwire_tests::{on_every_async_adapter, watched};

use super::Told;

/// A stream that panics once it is told to.
#[derive(Clone)]
struct Fragile<S> {
    stream: S,
    panics: Arc<AtomicBool>,
}

impl<S> Fragile<S> {
    fn check(&self) {
        assert!(!self.panics.load(Ordering::SeqCst), "the stream breaks");
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Fragile<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.check();
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Fragile<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check();
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

impl<S: io::Read> io::Read for Fragile<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buf);
        self.check();
        read
    }
}

impl<S: io::Write> io::Write for Fragile<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.check();
        self.stream.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Both halves of a stream to a server, and what makes each of them panic.
struct Halves {
    reader: Fragile<TcpStream>,
    writer: Fragile<TcpStream>,
    server: Child,
}

fn halves() -> Halves {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
    let ours = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it is listened to");
    let (theirs, _) = listener.accept().expect("it is called");
    let stream = || Stdio::from(OwnedFd::from(theirs.try_clone().expect("there are descriptors")));
    let server = Command::new(env!("CARGO_BIN_EXE_bad-habits"))
        .arg("well-behaved")
        .stdin(stream())
        .stdout(stream())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let half = |stream| Fragile { stream, panics: Arc::default() };
    Halves { reader: half(ours.try_clone().expect("there are descriptors")), writer: half(ours), server }
}

impl Halves {
    /// What makes one half panic.
    fn trigger(&self, of_reader: bool) -> Arc<AtomicBool> {
        Arc::clone(if of_reader { &self.reader.panics } else { &self.writer.panics })
    }
}

const OF_THE_STREAM: &str = "a stream or the runtime of the connection panicked: the stream breaks";

fn assert_says_why(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert!(error.to_string().contains(&format!("the connection failed: {OF_THE_STREAM}")), "{error}");
}

fn a_stream_that_panics_ends_its_connection_which_says_so<H: Host>() {
    for of_reader in [true, false] {
        let halves = halves();
        let trigger = halves.trigger(of_reader);
        let Halves { reader, writer, mut server } = halves;
        let socket = |half: Fragile<TcpStream>| Fragile {
            stream: Socket::new(half.stream).expect("it is a socket"),
            panics: half.panics,
        };
        let (reader, writer) = (socket(reader), socket(writer));
        let told = Told::default();
        H::start().block_on(async {
            let options = ConnectOptions::default().on_panic(told.hear());
            let client = McpClient::<H::Runtime>::over(reader, writer, options);
            client.initialize().await.expect("it answers");
            let mut notifications = client.notifications();
            let mut other = Box::pin(client.call_tool("ponder", ()).send());
            assert!(begun(&mut other).await.is_none());
            trigger.store(true, Ordering::SeqCst);
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            assert_says_why(&other.await.expect_err("it has ended"));
            assert_says_why(&client.call_tool("echo", ()).await.expect_err("it has ended"));
            while notifications.next().await.is_some() {}
            client.shutdown().await.expect("there is nothing to end");
        });
        assert_eq!(told.all(), [OF_THE_STREAM]);
        server.wait().expect("it is ours");
    }
}

fn an_opening_says_it_too<H: Host>() {
    let halves = halves();
    halves.trigger(true).store(true, Ordering::SeqCst);
    let Halves { reader, writer, mut server } = halves;
    let reader = Fragile { stream: Socket::new(reader.stream).expect("it is a socket"), panics: reader.panics };
    H::start().block_on(async {
        let writer = Socket::new(writer.stream).expect("it is a socket");
        let client = McpClient::<H::Runtime>::over(reader, writer, ConnectOptions::default());
        let error = client.initialize().await.expect_err("it cannot be opened");
        assert!(matches!(error.connect_error(), Some(ConnectError::Failed(_))), "{error}");
        assert!(error.to_string().contains(OF_THE_STREAM), "{error}");
    });
    server.wait().expect("it is ours");
}

on_every_async_adapter!(a_stream_that_panics_ends_its_connection_which_says_so, an_opening_says_it_too);

#[test]
fn blocking_says_so_too() {
    watched(|| {
        for of_reader in [true, false] {
            let halves = halves();
            let trigger = halves.trigger(of_reader);
            let Halves { reader, writer, mut server } = halves;
            let socket = writer.stream.try_clone().expect("there are descriptors");
            let told = Told::default();
            let options = ConnectOptions::default().on_panic(told.hear());
            let mut client = mcpwire_blocking::McpClient::over(reader, writer, options).expect("there are threads");
            client.initialize().expect("it answers");
            trigger.store(true, Ordering::SeqCst);
            for _ in 0..2 {
                assert_says_why(&client.call_tool("echo", ()).send().expect_err("it has ended"));
            }
            client.shutdown().expect("there is nothing to end");
            assert_eq!(told.all(), [OF_THE_STREAM]);
            socket.shutdown(Shutdown::Both).expect("it is open");
            server.wait().expect("it is ours");
        }
    });
}
