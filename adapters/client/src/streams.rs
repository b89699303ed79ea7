//! [`ReadStream`] and [`WriteStream`]: the byte streams of a connection, for any runtime.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// An asynchronous byte stream from which a client reads, independent of the runtime.
///
/// With the feature `futures-io`, all types that implement `futures_io::AsyncRead` implement this trait.
pub trait ReadStream {
    /// Reads into `buf`, and returns the number of bytes that were read, or 0 at the end of the stream. If no byte is available,
    /// returns `Pending`, and wakes the task of `cx` when a byte may be available.
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>>;
}

/// An asynchronous byte stream to which a client writes, independent of the runtime.
///
/// With the feature `futures-io`, all types that implement `futures_io::AsyncWrite` implement this trait.
pub trait WriteStream {
    /// Writes the first bytes of `buf`, and returns the number of bytes that were written. If the stream is full, returns
    /// `Pending`, and wakes the task of `cx` when there is room.
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

/// A boxed [`ReadStream`], so that streams of different runtimes have one type.
pub type Reader = Pin<Box<dyn ReadStream + Send>>;

/// A boxed [`WriteStream`], so that streams of different runtimes have one type.
pub type Writer = Pin<Box<dyn WriteStream + Send>>;
