//! [`Output`]: the stream to the server, with the state that is needed to write the engine's output to it.

use std::io::{Error, ErrorKind};
use std::task::{Context, Poll};

use mcpwire_client::{Direction, Writer, catch_panic};
use mcpwire_core::stdio::Engine;

/// The stream to the server, over which the engine's output is written. If the stream fails or panics, it is dropped, and the
/// driver ends the connection.
pub(crate) struct Output {
    /// The stream to the server. Dropping it closes the input of the server. `None` after that, and over HTTP.
    pub(crate) writer: Option<Writer>,
    /// Whether bytes were written since the last complete flush.
    needs_flush: bool,
    /// Why writing or flushing has failed. `None` if it has not, or if the driver has already taken the failure.
    pub(crate) failure: Option<OutputFailure>,
    /// Number of bytes that were written and not yet reported to the hooks.
    pub(crate) sent: u64,
}

/// Bytes that were sent or received, for the program's trace callback.
pub(crate) type TracedBytes = Vec<(Direction, Vec<u8>)>;

/// Why writing to the server or flushing has failed.
pub(crate) enum OutputFailure {
    Error(Error),
    /// The program's writer has panicked with this message.
    Panic(String),
}

impl Output {
    pub(crate) fn new(writer: Option<Writer>) -> Self {
        Output { writer, needs_flush: false, failure: None, sent: 0 }
    }

    /// Writes output of the engine until the stream is full. Returns whether any bytes were written.
    ///
    /// Adds the written bytes to `traced`, which is `None` if there is no trace callback.
    pub(crate) fn write(
        &mut self,
        engine: &mut Engine,
        cx: &mut Context<'_>,
        traced: Option<&mut TracedBytes>,
    ) -> bool {
        if engine.transmit().is_empty() && !self.needs_flush {
            return false;
        }
        // The program may have implemented the writer. A panic of the writer must not reach the caller of a request.
        let failure = match catch_panic(|| self.write_and_flush(engine, cx, traced)) {
            Ok(Ok(written)) => return written,
            Ok(Err(error)) => OutputFailure::Error(error),
            Err(message) => OutputFailure::Panic(message),
        };
        self.writer = None;
        self.failure = Some(failure);
        false
    }

    fn write_and_flush(
        &mut self,
        engine: &mut Engine,
        cx: &mut Context<'_>,
        mut traced: Option<&mut TracedBytes>,
    ) -> Result<bool, Error> {
        let mut written = false;
        while let Some(writer) = &mut self.writer {
            let bytes = engine.transmit();
            if bytes.is_empty() {
                break;
            }
            match writer.as_mut().poll_write(cx, bytes) {
                Poll::Pending => break,
                Poll::Ready(Ok(n)) if n > 0 => {
                    if let Some(traced) = &mut traced {
                        traced.push((Direction::Sent, bytes[..n].to_vec()));
                    }
                    engine.transmitted(n);
                    self.sent += n as u64;
                    self.needs_flush = true;
                    written = true;
                }
                Poll::Ready(Ok(_)) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        while self.needs_flush
            && let Some(writer) = &mut self.writer
        {
            match writer.as_mut().poll_flush(cx) {
                Poll::Pending => break,
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(flushed) => {
                    self.needs_flush = false;
                    flushed?;
                }
            }
        }
        Ok(written)
    }
}
