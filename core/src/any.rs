//! [`AnyEngine`]: that of a stream of bytes, or that of HTTP. What both do is asked for in the same words, so an adapter's code above
//! it knows no difference.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::time::Duration;

use alloc::boxed::Box;
use alloc::sync::Arc;

#[cfg(feature = "http")]
use crate::http;
use crate::{
    AskKey, CallTool, Config, Event, Json, LoggingLevel, Method, Notice, Params, Phase, Prepared, PreparedRequest, Raw,
    Reply, RequestKey, RequestOptions, RpcError, SendError, ServerInfo, SetLevel, Stats, SubscribeOptions,
    SubscriptionEvent, SubscriptionFilter, SubscriptionKey, TaskHandle, Ticket, Timestamp, stdio,
};

/// The engine of a connection that an adapter carries in one way or the other. Without the feature `http` there is one kind of it, and
/// nothing to be decided.
#[cfg_attr(
    feature = "http",
    expect(
        clippy::large_enum_variant,
        reason = "there is one for each connection, and streams are to pay nothing for HTTP"
    )
)]
#[non_exhaustive]
pub enum AnyEngine {
    /// Over a stream of bytes.
    Stream(stdio::Engine),
    /// By HTTP.
    #[cfg(feature = "http")]
    Http(Box<http::Engine>),
}

/// Does the same with either.
macro_rules! either {
    ($engine:expr, $inner:ident => $do:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http($inner) => $do,
        }
    };
}

/// Does something with that of a stream; for HTTP there is nothing of it.
macro_rules! stream {
    ($engine:expr, $inner:ident => $do:expr, $none:expr) => {
        match $engine {
            AnyEngine::Stream($inner) => $do,
            #[cfg(feature = "http")]
            AnyEngine::Http(_) => $none,
        }
    };
}

/// What a stream has, and HTTP has not: there is nothing to be written, and no space for what is read.
impl AnyEngine {
    /// See [`stdio::Engine::space`].
    #[inline]
    pub fn space(&mut self) -> &mut [u8] {
        stream!(self, engine => engine.space(), &mut [])
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

    /// The engine of a server that is started once more; none where nothing is to be started. See [`stdio::Engine::restarted`].
    #[inline]
    pub fn restarted(&mut self, spent: Duration) -> Option<AnyEngine> {
        stream!(self, engine => Some(AnyEngine::Stream(engine.restarted(spent))), None)
    }
}

/// What HTTP has, and a stream has not.
impl AnyEngine {
    /// The engine of HTTP, if it is one.
    #[cfg(feature = "http")]
    pub fn http(&mut self) -> Option<&mut http::Engine> {
        match self {
            AnyEngine::Stream(_) => None,
            AnyEngine::Http(engine) => Some(engine),
        }
    }

    /// Whether it is the engine of HTTP: then there are exchanges to be made, and no bytes to be moved.
    #[inline]
    pub fn is_http(&self) -> bool {
        stream!(self, _engine => false, true)
    }
}

impl AnyEngine {
    /// See [`stdio::Engine::config`].
    #[inline]
    pub fn config(&self) -> &Config {
        either!(self, engine => engine.config())
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

    /// See [`stdio::Engine::has_events`].
    #[inline]
    pub fn has_events(&self) -> bool {
        either!(self, engine => engine.has_events())
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

    /// See [`stdio::Engine::initialize`].
    #[inline]
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        either!(self, engine => engine.initialize(now))
    }

    /// See [`stdio::Engine::request`].
    #[inline]
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        either!(self, engine => engine.request(params, options, now))
    }

    /// See [`stdio::Engine::request_prepared`].
    #[inline]
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        either!(self, engine => engine.request_prepared(params, options, now))
    }

    /// See [`stdio::Engine::send_prepared`].
    #[inline]
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        either!(self, engine => engine.send_prepared(request, options, now))
    }

    /// See [`stdio::Engine::request_raw`].
    #[inline]
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<Raw>, SendError> {
        either!(self, engine => engine.request_raw(method, params, options, now))
    }

    /// See [`stdio::Engine::set_log_level`].
    #[inline]
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        either!(self, engine => engine.set_log_level(level, options, now))
    }

    /// See [`stdio::Engine::follow_task`].
    #[inline]
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        either!(self, engine => engine.follow_task(handle, options, now))
    }

    /// See [`stdio::Engine::notify`].
    #[inline]
    pub fn notify<N: Notice>(&mut self, params: &N::Params) -> Result<(), SendError> {
        either!(self, engine => engine.notify::<N>(params))
    }

    /// See [`stdio::Engine::notify_raw`].
    #[inline]
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        either!(self, engine => engine.notify_raw(method, params))
    }

    /// See [`stdio::Engine::cancel`].
    #[inline]
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>) -> bool {
        either!(self, engine => engine.cancel(key, reason))
    }

    /// See [`stdio::Engine::subscribe`].
    #[inline]
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        either!(self, engine => engine.subscribe(wanted, options, now))
    }

    /// See [`stdio::Engine::unsubscribe`].
    #[inline]
    pub fn unsubscribe(&mut self, key: SubscriptionKey) -> bool {
        either!(self, engine => engine.unsubscribe(key))
    }

    /// See [`stdio::Engine::subscriptions`].
    #[inline]
    pub fn subscriptions(&self) -> usize {
        either!(self, engine => engine.subscriptions())
    }

    /// See [`stdio::Engine::poll_subscription`].
    #[inline]
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        either!(self, engine => engine.poll_subscription(key))
    }

    /// See [`stdio::Engine::answer`].
    #[inline]
    pub fn answer(&mut self, key: AskKey, result: &Json, now: Timestamp) -> Result<bool, SendError> {
        either!(self, engine => engine.answer(key, result, now))
    }

    /// See [`stdio::Engine::refuse`].
    #[inline]
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp) -> bool {
        either!(self, engine => engine.refuse(key, error, now))
    }

    /// See [`stdio::Engine::handler_panicked`].
    #[inline]
    pub fn handler_panicked(&mut self, key: AskKey, message: &str, now: Timestamp) -> bool {
        either!(self, engine => engine.handler_panicked(key, message, now))
    }

    /// See [`stdio::Engine::keeps_answers_to`].
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        either!(self, engine => engine.keeps_answers_to::<M>())
    }

    /// See [`stdio::Engine::tells_roots_changes`].
    #[inline]
    pub fn tells_roots_changes(&self) -> bool {
        either!(self, engine => engine.tells_roots_changes())
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

    /// See [`stdio::Engine::phase`].
    #[inline]
    pub fn phase(&self) -> Phase {
        either!(self, engine => engine.phase())
    }

    /// See [`stdio::Engine::server`].
    #[inline]
    pub fn server(&self) -> Option<&ServerInfo> {
        either!(self, engine => engine.server())
    }

    /// See [`stdio::Engine::take_server`].
    #[inline]
    pub fn take_server(&mut self) -> Option<Arc<ServerInfo>> {
        either!(self, engine => engine.take_server())
    }

    /// See [`stdio::Engine::in_flight`].
    #[inline]
    pub fn in_flight(&self) -> usize {
        either!(self, engine => engine.in_flight())
    }

    /// See [`stdio::Engine::is_waiting`].
    #[inline]
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        either!(self, engine => engine.is_waiting(key))
    }

    /// See [`stdio::Engine::is_idle`].
    #[inline]
    pub fn is_idle(&self) -> bool {
        either!(self, engine => engine.is_idle())
    }

    /// See [`stdio::Engine::stats`].
    #[inline]
    pub fn stats(&self) -> Stats {
        either!(self, engine => engine.stats())
    }
}

/// An engine in memory of its own, for those who have much around it: what it takes to drop one is much as well, and is part
/// of a program once and not wherever an adapter's own state may be dropped.
pub struct EngineBox(Box<dyn Whole>);

/// What may be an engine.
trait Whole: Send {
    fn get(&self) -> &AnyEngine;
    fn get_mut(&mut self) -> &mut AnyEngine;
}

impl Whole for AnyEngine {
    fn get(&self) -> &AnyEngine {
        self
    }

    fn get_mut(&mut self) -> &mut AnyEngine {
        self
    }
}

impl EngineBox {
    /// An engine over a stream of bytes, which has sent nothing yet.
    #[inline(never)]
    pub fn stream(config: Config) -> Self {
        EngineBox(Box::new(AnyEngine::Stream(stdio::Engine::new(config))))
    }

    /// One by HTTP.
    #[cfg(feature = "http")]
    pub fn http(engine: http::Engine) -> Self {
        EngineBox(Box::new(AnyEngine::Http(Box::new(engine))))
    }

    /// See [`AnyEngine::restarted`].
    #[inline(never)]
    pub fn restarted(&mut self, spent: Duration) -> Option<EngineBox> {
        let engine = self.0.get_mut().restarted(spent)?;
        Some(EngineBox(Box::new(engine)))
    }
}

impl Deref for EngineBox {
    type Target = AnyEngine;

    #[inline]
    fn deref(&self) -> &AnyEngine {
        self.0.get()
    }
}

impl DerefMut for EngineBox {
    #[inline]
    fn deref_mut(&mut self) -> &mut AnyEngine {
        self.0.get_mut()
    }
}

impl fmt::Debug for EngineBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.get().fmt(f)
    }
}

impl fmt::Debug for AnyEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        either!(self, engine => engine.fmt(f))
    }
}
