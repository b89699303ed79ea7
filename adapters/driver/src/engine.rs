//! [`Engine`]: that of a stream of bytes, or that of HTTP. What both do is asked for in the same words, and the code above knows no
//! difference.

use std::time::Duration;

#[cfg(feature = "http")]
use mcpwire_core::http;
use mcpwire_core::{
    AskKey, CallTool, Config, Event, Json, LoggingLevel, Method, Notice, Phase, Prepared, Raw, Reply, RequestKey,
    RequestOptions, RpcError, SendError, ServerInfo, SetLevel, Stats, SubscribeOptions, SubscriptionEvent,
    SubscriptionFilter, SubscriptionKey, TaskHandle, Ticket, Timestamp, stdio,
};

/// The engine of a connection. Without the feature `http` there is one kind of it, and nothing to be decided.
#[cfg_attr(
    feature = "http",
    expect(
        clippy::large_enum_variant,
        reason = "there is one for each connection, and streams are to pay nothing for HTTP"
    )
)]
pub(crate) enum Engine {
    Stream(stdio::Engine),
    #[cfg(feature = "http")]
    Http(Box<http::Engine>),
}

/// Does the same with either.
macro_rules! either {
    ($engine:expr, $inner:ident => $do:expr) => {
        match $engine {
            Engine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            Engine::Http($inner) => $do,
        }
    };
}

/// Does something with that of a stream; for HTTP there is nothing of it.
macro_rules! stream {
    ($engine:expr, $inner:ident => $do:expr, $none:expr) => {
        match $engine {
            Engine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            Engine::Http(_) => $none,
        }
    };
}

/// What a stream has, and HTTP has not.
impl Engine {
    #[inline]
    pub(crate) fn space(&mut self) -> &mut [u8] {
        stream!(self, engine => engine.space(), &mut [])
    }

    #[inline]
    pub(crate) fn filled(&mut self, n: usize, now: Timestamp) {
        stream!(self, engine => engine.filled(n, now), ());
    }

    #[inline]
    pub(crate) fn receive_eof(&mut self, now: Timestamp) {
        stream!(self, engine => engine.receive_eof(now), ());
    }

    #[inline]
    pub(crate) fn transmit(&self) -> &[u8] {
        stream!(self, engine => engine.transmit(), &[])
    }

    #[inline]
    pub(crate) fn transmitted(&mut self, n: usize) {
        stream!(self, engine => engine.transmitted(n), ());
    }

    /// The engine of a server that is started once more: only where there is something to be started.
    #[inline]
    pub(crate) fn restarted(&mut self, spent: Duration) -> Option<Engine> {
        stream!(self, engine => Some(Engine::Stream(engine.restarted(spent))), None)
    }
}

/// What HTTP has, and a stream has not.
#[cfg(feature = "http")]
impl Engine {
    pub(crate) fn http(&mut self) -> Option<&mut http::Engine> {
        match self {
            Engine::Stream(_) => None,
            Engine::Http(engine) => Some(engine),
        }
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Engine::Http(_))
    }
}

impl Engine {
    pub(crate) fn config(&self) -> &Config {
        either!(self, engine => engine.config())
    }

    #[inline]
    pub(crate) fn handle_timeout(&mut self, now: Timestamp) {
        either!(self, engine => engine.handle_timeout(now));
    }

    #[inline]
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        either!(self, engine => engine.poll_event())
    }

    #[inline]
    pub(crate) fn has_events(&self) -> bool {
        either!(self, engine => engine.has_events())
    }

    #[inline]
    pub(crate) fn recycle(&mut self, reply: Reply) {
        either!(self, engine => engine.recycle(reply));
    }

    #[inline]
    pub(crate) fn shrink(&mut self) {
        either!(self, engine => engine.shrink());
    }

    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        either!(self, engine => engine.poll_timeout())
    }

    #[inline]
    pub(crate) fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        either!(self, engine => engine.initialize(now))
    }

    #[inline]
    pub(crate) fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        either!(self, engine => engine.request_prepared(params, options, now))
    }

    #[inline]
    pub(crate) fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<Raw>, SendError> {
        either!(self, engine => engine.request_raw(method, params, options, now))
    }

    #[inline]
    pub(crate) fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        either!(self, engine => engine.set_log_level(level, options, now))
    }

    #[inline]
    pub(crate) fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        either!(self, engine => engine.follow_task(handle, options, now))
    }

    #[inline]
    pub(crate) fn notify<N: Notice>(&mut self, params: &N::Params) -> Result<(), SendError> {
        either!(self, engine => engine.notify::<N>(params))
    }

    #[inline]
    pub(crate) fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        either!(self, engine => engine.notify_raw(method, params))
    }

    #[inline]
    pub(crate) fn cancel(&mut self, key: RequestKey, reason: Option<&str>) -> bool {
        either!(self, engine => engine.cancel(key, reason))
    }

    #[inline]
    pub(crate) fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        either!(self, engine => engine.subscribe(wanted, options, now))
    }

    #[inline]
    pub(crate) fn unsubscribe(&mut self, key: SubscriptionKey) -> bool {
        either!(self, engine => engine.unsubscribe(key))
    }

    #[inline]
    pub(crate) fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        either!(self, engine => engine.poll_subscription(key))
    }

    #[inline]
    pub(crate) fn answer(&mut self, key: AskKey, result: &Json, now: Timestamp) -> Result<bool, SendError> {
        either!(self, engine => engine.answer(key, result, now))
    }

    #[inline]
    pub(crate) fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp) -> bool {
        either!(self, engine => engine.refuse(key, error, now))
    }

    #[inline]
    pub(crate) fn tells_roots_changes(&self) -> bool {
        either!(self, engine => engine.tells_roots_changes())
    }

    #[inline]
    pub(crate) fn close(&mut self) {
        either!(self, engine => engine.close());
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        either!(self, engine => engine.phase())
    }

    #[inline]
    pub(crate) fn take_server(&mut self) -> Option<ServerInfo> {
        either!(self, engine => engine.take_server())
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        either!(self, engine => engine.in_flight())
    }

    #[inline]
    pub(crate) fn stats(&self) -> Stats {
        either!(self, engine => engine.stats())
    }
}
