//! [`AnyEngine`]: the engine of a byte stream or of HTTP, behind one interface.

use core::fmt;
use core::time::Duration;

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::sync::Arc;

#[cfg(feature = "http")]
use crate::http;
use crate::{Calls, Config, Event, Reply, Session, Timestamp, stdio};

/// An engine for either transport.
///
/// Adapter code above the transport uses this type for both. Without the feature `http` there is only one variant and
/// no dispatch.
#[cfg_attr(
    feature = "http",
    expect(
        clippy::large_enum_variant,
        reason = "there is one engine per connection, and boxing it would cost streams an indirection"
    )
)]
#[non_exhaustive]
pub enum AnyEngine {
    /// A connection over a byte stream.
    Stream(stdio::Engine),
    /// A connection over HTTP.
    #[cfg(feature = "http")]
    Http(Box<http::Engine>),
}

/// Evaluates an expression with the inner engine of either variant.
macro_rules! either {
    ($engine:expr, $inner:ident => $do:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http($inner) => $do,
        }
    };
}

/// Evaluates an expression with the stream engine, or a default for HTTP.
macro_rules! stream {
    ($engine:expr, $inner:ident => $do:expr, $none:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http(_) => $none,
        }
    };
}

/// Methods of byte streams. For HTTP they do nothing, and there is nothing to read or write.
impl AnyEngine {
    /// See [`stdio::Engine::space`].
    #[inline]
    pub fn space(&mut self) -> Option<&mut [u8]> {
        stream!(self, engine => engine.space(), None)
    }

    /// See [`stdio::Engine::receive`].
    #[inline]
    pub fn receive(&mut self, bytes: &[u8], now: Timestamp) -> usize {
        stream!(self, engine => engine.receive(bytes, now), 0)
    }

    /// See [`stdio::Engine::filled`].
    #[inline]
    pub fn filled(&mut self, n: usize, now: Timestamp) {
        stream!(self, engine => engine.filled(n, now), ());
    }

    /// See [`stdio::Engine::receive_eof`].
    #[inline]
    pub fn receive_eof(&mut self, now: Timestamp) {
        stream!(self, engine => engine.receive_eof(now), ());
    }

    /// See [`stdio::Engine::transmit`].
    #[inline]
    pub fn transmit(&self) -> &[u8] {
        stream!(self, engine => engine.transmit(), &[])
    }

    /// See [`stdio::Engine::transmitted`].
    #[inline]
    pub fn transmitted(&mut self, n: usize) {
        stream!(self, engine => engine.transmitted(n), ());
    }

    /// Creates the engine for a restarted server; `None` for HTTP, which has no process to restart. See
    /// [`stdio::Engine::restarted`].
    #[inline]
    pub fn restarted(&mut self, spent: Duration) -> Option<AnyEngine> {
        stream!(self, engine => Some(AnyEngine::Stream(engine.restarted(spent))), None)
    }
}

impl AnyEngine {
    /// Creates an engine over a byte stream that has not sent anything yet.
    pub fn stream(config: Config) -> Self {
        AnyEngine::Stream(stdio::Engine::new(config))
    }
}

/// Methods of HTTP connections.
impl AnyEngine {
    /// Returns the HTTP engine, or `None` for a byte stream.
    #[cfg(feature = "http")]
    pub fn http(&mut self) -> Option<&mut http::Engine> {
        match self {
            AnyEngine::Stream(_) => None,
            AnyEngine::Http(engine) => Some(engine),
        }
    }

    /// Returns whether this is an HTTP connection, which carries exchanges instead of bytes.
    #[inline]
    pub fn is_http(&self) -> bool {
        stream!(self, _engine => false, true)
    }
}

impl AnyEngine {
    /// Returns the handle to send requests, notifications and responses.
    #[inline]
    pub fn calls(&mut self) -> Calls<'_> {
        either!(self, engine => engine.calls())
    }

    /// Returns the state of the connection.
    #[inline]
    pub fn session(&self) -> &Session {
        either!(self, engine => engine.session())
    }

    /// See [`stdio::Engine::handle_timeout`].
    #[inline]
    pub fn handle_timeout(&mut self, now: Timestamp) {
        either!(self, engine => engine.handle_timeout(now));
    }

    /// See [`stdio::Engine::poll_event`].
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        either!(self, engine => engine.poll_event())
    }

    /// See [`stdio::Engine::recycle`].
    #[inline]
    pub fn recycle(&mut self, reply: Reply) {
        either!(self, engine => engine.recycle(reply));
    }

    /// See [`stdio::Engine::shrink`].
    #[inline]
    pub fn shrink(&mut self) {
        either!(self, engine => engine.shrink());
    }

    /// See [`stdio::Engine::poll_timeout`].
    #[inline]
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        either!(self, engine => engine.poll_timeout())
    }

    /// See [`stdio::Engine::close`].
    #[inline]
    pub fn close(&mut self) {
        either!(self, engine => engine.close());
    }

    /// See [`stdio::Engine::close_failed`].
    #[inline]
    pub fn close_failed(&mut self, why: Arc<str>) {
        either!(self, engine => engine.close_failed(why));
    }

    /// See [`stdio::Engine::is_idle`].
    #[inline]
    pub fn is_idle(&self) -> bool {
        either!(self, engine => engine.is_idle())
    }
}

impl fmt::Debug for AnyEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(self, engine => engine.fmt(f))
    }
}
