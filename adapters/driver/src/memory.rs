//! In-memory streams, to connect a client to a server in the same process, for example in tests.
//!
//! Each stream has a bounded capacity. When its buffer is full, the writer waits until the reader reads.
//!
//! Programs on tokio can use [`tokio::io::duplex`](https://docs.rs/tokio/latest/tokio/io/fn.duplex.html) instead.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};
use mcpwire_client::{lock, replace_waker};

/// One end of an in-memory connection. Returned by [`duplex`].
#[derive(Debug)]
pub struct Duplex {
    /// Reads the bytes that the other end writes.
    pub reader: PipeReader,
    /// Writes the bytes that the other end reads.
    pub writer: PipeWriter,
}

/// Creates an in-memory connection, and returns its two ends. Each direction buffers up to `capacity` bytes.
///
/// Pass the streams of one end to [`McpClient::over`](crate::McpClient::over). A task that acts as the server uses the other end.
///
/// ```
/// # mod mcpwire { pub mod runtime { pub mod memory { pub use mcpwire_driver::memory::duplex; } } }
/// use std::pin::Pin;
/// use std::task::{Context, Poll, Waker};
///
/// use futures_io::{AsyncRead, AsyncWrite};
/// use mcpwire::runtime::memory::duplex;
///
/// let (mut ours, mut theirs) = duplex(64 * 1024);
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(matches!(Pin::new(&mut ours.writer).poll_write(&mut cx, b"hello"), Poll::Ready(Ok(5))));
/// let mut received = [0; 16];
/// assert!(matches!(Pin::new(&mut theirs.reader).poll_read(&mut cx, &mut received), Poll::Ready(Ok(5))));
/// assert_eq!(&received[..5], b"hello");
/// ```
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (ours, to_us) = pipe(capacity);
    let (theirs, to_them) = pipe(capacity);
    (Duplex { reader: ours, writer: to_them }, Duplex { reader: theirs, writer: to_us })
}

/// Creates an in-memory pipe for one direction, and returns its two ends. It buffers up to `capacity` bytes, and at least one
/// byte.
///
/// For comparison: a pipe of Linux buffers 64 KiB.
pub fn pipe(capacity: usize) -> (PipeReader, PipeWriter) {
    let channel = Channel { capacity: capacity.max(1), ..Channel::default() };
    let channel = Arc::new(Mutex::new(channel));
    (PipeReader(Arc::clone(&channel)), PipeWriter(channel))
}

/// The read end of an in-memory pipe. Dropping it does the same as [`PipeReader::close`].
#[derive(Debug)]
pub struct PipeReader(Arc<Mutex<Channel>>);

/// The write end of an in-memory pipe. Dropping it does the same as [`PipeWriter::close`].
#[derive(Debug)]
pub struct PipeWriter(Arc<Mutex<Channel>>);

#[derive(Debug, Default)]
struct Channel {
    bytes: VecDeque<u8>,
    capacity: usize,
    is_reader_closed: bool,
    is_writer_closed: bool,
    read_waker: Option<Waker>,
    write_waker: Option<Waker>,
}

impl PipeReader {
    /// Closes the read end. Buffered bytes are lost, and later writes fail with [`io::ErrorKind::BrokenPipe`].
    pub fn close(&mut self) {
        close(&self.0, |channel| {
            channel.is_reader_closed = true;
            channel.bytes = VecDeque::new();
        });
    }
}

impl PipeWriter {
    /// Closes the write end. The reader gets the buffered bytes, then the end of the stream.
    pub fn close(&mut self) {
        close(&self.0, |channel| channel.is_writer_closed = true);
    }
}

impl AsyncRead for PipeReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        if channel.bytes.is_empty() && !channel.is_writer_closed && !channel.is_reader_closed && !buf.is_empty() {
            let previous = replace_waker(&mut channel.read_waker, cx.waker());
            drop(channel);
            drop(previous);
            return Poll::Pending;
        }
        let n = io::Read::read(&mut channel.bytes, buf)?;
        let writer = if n > 0 { channel.write_waker.take() } else { None };
        drop(channel);
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(n))
    }
}

impl AsyncWrite for PipeWriter {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        if channel.is_reader_closed || channel.is_writer_closed {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let n = buf.len().min(channel.capacity - channel.bytes.len());
        if n == 0 && !buf.is_empty() {
            let previous = replace_waker(&mut channel.write_waker, cx.waker());
            drop(channel);
            drop(previous);
            return Poll::Pending;
        }
        channel.bytes.extend(&buf[..n]);
        let reader = channel.read_waker.take();
        drop(channel);
        reader.into_iter().for_each(Waker::wake);
        Poll::Ready(Ok(n))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        self.close();
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        self.close();
    }
}

/// Closes one end of the channel by calling `close_end`, and wakes the tasks that wait at both ends.
fn close(channel: &Mutex<Channel>, close_end: impl FnOnce(&mut Channel)) {
    let mut channel = lock(channel);
    close_end(&mut channel);
    let wakers = [channel.read_waker.take(), channel.write_waker.take()];
    // The lock is released first, because a task that is woken may need it at once.
    drop(channel);
    wakers.into_iter().flatten().for_each(Waker::wake);
}
