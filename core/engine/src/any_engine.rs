//! [`AnyEngine`]: the engine of a connection over a byte stream or over HTTP, behind one interface.

use core::fmt;
use core::time::Duration;

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::sync::Arc;

#[cfg(feature = "http")]
use crate::http;
use crate::{Calls, Config, Event, Reply, Session, Timestamp, stdio};

/// The engine of one connection, over a byte stream or over HTTP.
///
/// Adapter code that does not depend on the transport uses this type. Without the feature `http`, `Stream` is the only
/// variant.
#[cfg_attr(
    feature = "http",
    expect(
        clippy::large_enum_variant,
        reason = "there is one engine per connection, and boxing it would cost streams an indirection"
    )
)]
#[non_exhaustive]
pub enum AnyEngine {
    /// The engine of a connection over a byte stream, such as the pipes of a server process.
    Stream(stdio::Engine),
    /// The engine of a connection over HTTP.
    #[cfg(feature = "http")]
    Http(Box<http::Engine>),
}

macro_rules! either {
    ($engine:expr, $inner:ident => $do:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http($inner) => $do,
        }
    };
}

macro_rules! stream {
    ($engine:expr, $inner:ident => $do:expr, $none:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http(_) => $none,
        }
    };
}

/// Methods for a connection over a byte stream. On an engine for HTTP, they do nothing and return `None`, zero or an
/// empty slice.
impl AnyEngine {
    /// Creates an engine for a byte stream. The engine sends nothing until its first request.
    pub fn stream(config: Config) -> Self {
        AnyEngine::Stream(stdio::Engine::new(config))
    }

    /// Returns the buffer for the next read, or `None` if the buffer is full or the engine is for HTTP. See
    /// [`stdio::Engine::space`].
    pub fn space(&mut self) -> Option<&mut [u8]> {
        stream!(self, engine => engine.space(), None)
    }

    /// Copies received bytes into the engine, and returns how many bytes of `bytes` were copied. An HTTP engine copies
    /// none. See [`stdio::Engine::receive`].
    pub fn receive(&mut self, bytes: &[u8], now: Timestamp) -> usize {
        stream!(self, engine => engine.receive(bytes, now), 0)
    }

    /// Reports that `n` bytes were read into the buffer of [`Self::space`]. See [`stdio::Engine::filled`].
    pub fn filled(&mut self, n: usize, now: Timestamp) {
        stream!(self, engine => engine.filled(n, now), ());
    }

    /// Reports that the server closed the byte stream. See [`stdio::Engine::receive_eof`].
    pub fn receive_eof(&mut self, now: Timestamp) {
        stream!(self, engine => engine.receive_eof(now), ());
    }

    /// Reports that the byte stream ended with the error `why`. See [`stdio::Engine::receive_error`].
    pub fn receive_error(&mut self, why: Arc<str>, now: Timestamp) {
        stream!(self, engine => engine.receive_error(why, now), ());
    }

    /// Returns the bytes to write to the byte stream next. See [`stdio::Engine::transmit`].
    pub fn transmit(&self) -> &[u8] {
        stream!(self, engine => engine.transmit(), &[])
    }

    /// Reports that `n` bytes of [`Self::transmit`] were written. See [`stdio::Engine::transmitted`].
    pub fn transmitted(&mut self, n: usize) {
        stream!(self, engine => engine.transmitted(n), ());
    }

    /// Creates the engine for a restarted server process, or returns `None` if this engine is for HTTP. See
    /// [`stdio::Engine::restarted`].
    ///
    /// The new engine has the configuration of this engine. `spent` is the time since the connection attempt began, and
    /// counts towards the connect timeout.
    pub fn restarted(&mut self, spent: Duration) -> Option<AnyEngine> {
        stream!(self, engine => Some(AnyEngine::Stream(engine.restarted(spent))), None)
    }
}

/// Methods for HTTP connections.
impl AnyEngine {
    /// Returns the HTTP engine, or `None` for a byte stream.
    #[cfg(feature = "http")]
    pub fn http(&mut self) -> Option<&mut http::Engine> {
        match self {
            AnyEngine::Stream(_) => None,
            AnyEngine::Http(engine) => Some(engine),
        }
    }

    /// Returns whether this engine is for HTTP. An adapter drives such an engine through [`Self::http`], because the
    /// methods for byte streams have no effect on it.
    pub fn is_http(&self) -> bool {
        stream!(self, _engine => false, true)
    }
}

impl AnyEngine {
    /// Returns a handle that sends requests, notifications and responses through this engine.
    pub fn calls(&mut self) -> Calls<'_> {
        either!(self, engine => engine.calls())
    }

    /// Returns the session of this engine: the negotiated version, the server's capabilities and the pending
    /// requests.
    pub fn session(&self) -> &Session {
        either!(self, engine => engine.session())
    }

    /// Handles all timeouts that have expired by `now`. See [`stdio::Engine::handle_timeout`].
    pub fn handle_timeout(&mut self, now: Timestamp) {
        either!(self, engine => engine.handle_timeout(now));
    }

    /// Returns the next event, or `None` if no event is ready. See [`stdio::Engine::poll_event`].
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(self, engine => engine.poll_event())
    }

    /// Lets the engine reuse the memory of a reply that the caller no longer needs. See [`stdio::Engine::recycle`].
    pub fn recycle(&mut self, reply: Reply) {
        either!(self, engine => engine.recycle(reply));
    }

    /// Frees the engine's buffers if the connection is idle. See [`stdio::Engine::shrink`].
    pub fn shrink(&mut self) {
        either!(self, engine => engine.shrink());
    }

    /// Returns when to call [`Self::handle_timeout`] next, or `None` if no timeout is running. See
    /// [`stdio::Engine::poll_timeout`].
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        either!(self, engine => engine.poll_timeout())
    }

    /// Closes the connection, and fails all pending requests. See [`stdio::Engine::close`].
    pub fn close(&mut self) {
        either!(self, engine => engine.close());
    }

    /// Closes the connection because the client failed, and fails all pending requests with the reason `why`. See
    /// [`stdio::Engine::close_failed`].
    pub fn close_failed(&mut self, why: Arc<str>) {
        either!(self, engine => engine.close_failed(why));
    }
}

impl fmt::Debug for AnyEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(self, engine => engine.fmt(f))
    }
}
