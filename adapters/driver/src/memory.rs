//! Streams in memory, for a server in the same process.
//!
//! They hold a limited number of bytes, so that a side that does not read makes the other side wait.
//!
//! Programs on tokio can use [`tokio::io::duplex`](https://docs.rs/tokio/latest/tokio/io/fn.duplex.html) in their place.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};

/// One end of a connection in memory. Made by [`duplex`].
#[derive(Debug)]
pub struct Duplex {
    /// Reads what the other end has written.
    pub reader: PipeReader,
    /// Writes what the other end reads.
    pub writer: PipeWriter,
}

/// Creates a connection in memory, and returns its two ends. Each direction holds `capacity` bytes.
///
/// One end is for [`McpClient::over`](crate::McpClient::over), the other end for a task that is the server.
///
/// ```
/// use std::pin::Pin;
/// use std::task::{Context, Poll, Waker};
///
/// use futures_io::{AsyncRead, AsyncWrite};
/// use mcpwire_driver::memory::duplex;
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

/// Creates a pipe in memory that holds `capacity` bytes, and at least one. A pipe of Linux holds 64 KiB.
pub fn pipe(capacity: usize) -> (PipeReader, PipeWriter) {
    let channel = Channel { capacity: capacity.max(1), ..Channel::default() };
    let channel = Arc::new(Mutex::new(channel));
    (PipeReader(Arc::clone(&channel)), PipeWriter(channel))
}

/// The end of a pipe to read from. Dropping it does the same as [`PipeReader::close`].
pub struct PipeReader(Arc<Mutex<Channel>>);

/// The end of a pipe to write to. Dropping it does the same as [`PipeWriter::close`].
pub struct PipeWriter(Arc<Mutex<Channel>>);

#[derive(Debug, Default)]
struct Channel {
    bytes: VecDeque<u8>,
    capacity: usize,
    reader_gone: bool,
    writer_gone: bool,
    reading: Option<Waker>,
    writing: Option<Waker>,
}

impl PipeReader {
    /// Breaks the pipe: drops the bytes in it. Later writes fail with [`io::ErrorKind::BrokenPipe`].
    pub fn close(&mut self) {
        let mut channel = lock(&self.0);
        channel.reader_gone = true;
        channel.bytes = VecDeque::new();
        let wakers = (channel.reading.take(), channel.writing.take());
        drop(channel);
        wake(wakers.1);
    }
}

impl PipeWriter {
    /// Ends the stream. The reader still reads the bytes in the pipe.
    pub fn close(&mut self) {
        let mut channel = lock(&self.0);
        channel.writer_gone = true;
        let wakers = (channel.reading.take(), channel.writing.take());
        drop(channel);
        wake(wakers.0);
    }
}

impl AsyncRead for PipeReader {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        if channel.bytes.is_empty() && !channel.writer_gone && !channel.reader_gone && !buf.is_empty() {
            let former = park(&mut channel.reading, cx);
            drop(channel);
            drop(former);
            return Poll::Pending;
        }
        let n = io::Read::read(&mut channel.bytes, buf)?;
        let writer = if n > 0 { channel.writing.take() } else { None };
        drop(channel);
        wake(writer);
        Poll::Ready(Ok(n))
    }
}

impl AsyncWrite for PipeWriter {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let mut channel = lock(&self.0);
        if channel.reader_gone || channel.writer_gone {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let n = buf.len().min(channel.capacity - channel.bytes.len());
        if n == 0 && !buf.is_empty() {
            let former = park(&mut channel.writing, cx);
            drop(channel);
            drop(former);
            return Poll::Pending;
        }
        channel.bytes.extend(&buf[..n]);
        let reader = channel.reading.take();
        drop(channel);
        wake(reader);
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

impl fmt::Debug for PipeReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipeReader").field(&*lock(&self.0)).finish()
    }
}

impl fmt::Debug for PipeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PipeWriter").field(&*lock(&self.0)).finish()
    }
}

fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the waker of a task. Returns the former waker, to be dropped without the lock: it may be the last reference to
/// a task.
fn park(place: &mut Option<Waker>, cx: &Context<'_>) -> Option<Waker> {
    match place {
        Some(waker) if waker.will_wake(cx.waker()) => None,
        place => place.replace(cx.waker().clone()),
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
