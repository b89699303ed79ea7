//! Simulated time governs the connections.

use std::task::Waker;

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_testkit::VirtualTime;

use super::*;

/// A [`Net`] in virtual time. Its servers answer each request with `hello`.
pub(super) struct VirtualNet {
    runtime: Arc<dyn Runtime>,
    /// Each open socket has a clone.
    sockets: Arc<()>,
}

impl VirtualNet {
    pub(super) fn new(time: &VirtualTime) -> Self {
        VirtualNet { runtime: time.runtime(), sockets: Arc::default() }
    }

    fn open_sockets(&self) -> usize {
        Arc::strong_count(&self.sockets) - 1
    }
}

impl Runtime for VirtualNet {
    fn spawn(&self, task: TaskFuture) {
        self.runtime.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.runtime.timer()
    }

    fn clock(&self) -> Clock {
        self.runtime.clock()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> std::io::Result<Streams> {
        self.runtime.pipes(pipes, exit)
    }
}

impl Net for VirtualNet {
    fn resolve(&self, _: String, _: u16) -> ResolveFuture {
        Box::pin(async { Ok(vec![SocketAddr::from(([127, 0, 0, 1], 80))]) })
    }

    fn connect_tcp(&self, _: SocketAddr) -> ConnectFuture {
        let response = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let socket = VirtualSocket { response, _open: Arc::clone(&self.sockets), ..VirtualSocket::silent() };
        Box::pin(async { Ok(Box::pin(socket) as Socket) })
    }
}

/// A socket to a server that answers the end of each request head with the same bytes.
pub(super) struct VirtualSocket {
    response: &'static [u8],
    unread: Vec<u8>,
    reader: Option<Waker>,
    /// A clone of the count of open sockets.
    _open: Arc<()>,
}

impl VirtualSocket {
    /// Creates a socket to a server that accepts all bytes and sends none.
    pub(super) fn silent() -> Self {
        VirtualSocket { response: b"", unread: Vec::new(), reader: None, _open: Arc::default() }
    }
}

impl AsyncRead for VirtualSocket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<std::io::Result<usize>> {
        if self.unread.is_empty() {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        let n = self.unread.len().min(buf.len());
        self.unread.drain(..n).zip(buf).for_each(|(byte, space)| *space = byte);
        Poll::Ready(Ok(n))
    }
}

impl AsyncWrite for VirtualSocket {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        if buf.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            let response = self.response;
            self.unread.extend_from_slice(response);
            self.reader.take().into_iter().for_each(Waker::wake);
        }
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn idle_connections_are_closed_after_their_timeout_in_simulated_time() {
    let time = VirtualTime::new();
    let net = Arc::new(VirtualNet::new(&time));
    let options = ClientOptions::default();
    let idle_timeout = options.idle_timeout;
    let client = Client::new(Arc::clone(&net) as Arc<dyn Net>, options).unwrap();
    time.run(async {
        assert_eq!(fetch(&client, "http://127.0.0.1/mcp").await.unwrap(), "hello");
        time.sleep(idle_timeout / 2).await;
        assert_eq!(net.open_sockets(), 1);
        time.sleep(idle_timeout).await;
        assert_eq!(net.open_sockets(), 0);
    });
}
