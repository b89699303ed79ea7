//! Bounded pipes in memory: a writer waits for a reader that does not read.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};

/// The capacity of a pipe on Linux, in bytes.
pub(crate) const PIPE: usize = 64 * 1024;

/// One end of a connection in memory. Created by [`duplex`].
#[derive(Debug)]
pub struct Duplex {
    /// Reads what the other end has written.
    pub reader: PipeReader,
    /// Writes what the other end reads.
    pub writer: PipeWriter,
}

/// Creates a connection in memory, and returns its two ends. Each way holds `capacity` bytes.
///
/// ```
/// use mcpwire_testkit::{VirtualTime, duplex};
///
/// # use std::{future::poll_fn, io, pin::Pin};
/// # use futures_io::{AsyncRead, AsyncWrite};
/// let (mut ours, mut theirs) = duplex(64 * 1024);
/// let heard = VirtualTime::new().run(async move {
///     poll_fn(|cx| Pin::new(&mut ours.writer).poll_write(cx, b"hello")).await?;
///     let mut heard = [0; 16];
///     let n = poll_fn(|cx| Pin::new(&mut theirs.reader).poll_read(cx, &mut heard)).await?;
///     io::Result::Ok(heard[..n].to_vec())
/// });
/// assert_eq!(heard?, b"hello");
/// # io::Result::Ok(())
/// ```
pub fn duplex(capacity: usize) -> (Duplex, Duplex) {
    let (ours, to_us) = pipe(capacity);
    let (theirs, to_them) = pipe(capacity);
    (Duplex { reader: ours, writer: to_them }, Duplex { reader: theirs, writer: to_us })
}

/// Creates a pipe in memory that holds `capacity` bytes, but at least one. A pipe on Linux holds 64 KiB.
pub fn pipe(capacity: usize) -> (PipeReader, PipeWriter) {
    let channel = Channel { capacity: capacity.max(1), ..Channel::default() };
    let channel = Arc::new(Mutex::new(channel));
    (PipeReader(Arc::clone(&channel)), PipeWriter(channel))
}

/// The reading end of a pipe. Dropping it closes the pipe: see [`PipeReader::close`].
pub struct PipeReader(Arc<Mutex<Channel>>);

/// The writing end of a pipe. Dropping it closes the pipe: see [`PipeWriter::close`].
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
    /// Closes the reading end. The content of the pipe is lost, and writing fails with [`io::ErrorKind::BrokenPipe`].
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
    /// Closes the writing end. The reader gets the content of the pipe, and then the end of the stream.
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

/// Sets the waker. Returns the previous one, to be dropped without the lock, because a task may depend on it.
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
