//! [`AnyEngine`]: the engine of a connection over a byte stream or over HTTP, behind one interface.

#[cfg(feature = "http")]
use alloc::boxed::Box;
use alloc::sync::Arc;

#[cfg(feature = "http")]
use crate::http;
use crate::{Calls, Event, Session, Timestamp, stdio};

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

impl AnyEngine {
    /// Returns the engine for the byte stream, or `None` for HTTP.
    pub fn stream(&mut self) -> Option<&mut stdio::Engine> {
        match self {
            AnyEngine::Stream(engine) => Some(engine),
            #[cfg(feature = "http")]
            AnyEngine::Http(_) => None,
        }
    }

    /// Returns the HTTP engine, or `None` for a byte stream.
    #[cfg(feature = "http")]
    pub fn http(&mut self) -> Option<&mut http::Engine> {
        match self {
            AnyEngine::Stream(_) => None,
            AnyEngine::Http(engine) => Some(engine),
        }
    }

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
