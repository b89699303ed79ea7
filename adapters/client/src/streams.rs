//! [`ReadStream`] and [`WriteStream`]: the streams of any runtime.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A byte stream of any runtime that a client reads.
///
/// With the feature `futures-io`, all types that implement `futures_io::AsyncRead` implement this trait.
pub trait ReadStream {
    /// Reads into `buf`, and returns the number of bytes that were read, or 0 at the end of the stream. If no byte is
    /// available, wakes the task of `cx` when there is one.
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;
}

/// A byte stream of any runtime that a client writes.
///
/// With the feature `futures-io`, all types that implement `futures_io::AsyncWrite` implement this trait.
pub trait WriteStream {
    /// Writes a part of `buf`, and returns the number of bytes that were written. If the stream is full, wakes the task
    /// of `cx` when there is room.
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>>;

    /// Sends all bytes that the stream has buffered.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Sends all bytes that the stream has buffered, and ends the stream.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

#[cfg(feature = "futures-io")]
impl<S: futures_io::AsyncRead> ReadStream for S {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        futures_io::AsyncRead::poll_read(self, cx, buf)
    }
}

#[cfg(feature = "futures-io")]
impl<S: futures_io::AsyncWrite> WriteStream for S {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        futures_io::AsyncWrite::poll_write(self, cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        futures_io::AsyncWrite::poll_flush(self, cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        futures_io::AsyncWrite::poll_close(self, cx)
    }
}

/// A boxed [`ReadStream`].
pub type Reader = Pin<Box<dyn ReadStream + Send>>;

/// A boxed [`WriteStream`].
pub type Writer = Pin<Box<dyn WriteStream + Send>>;
