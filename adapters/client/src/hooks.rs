//! [`ConnectionHooks`]: calls the [`Observer`] and the callbacks for notifications and invalid messages.
//!
//! An adapter records the events of the engine while it holds its lock, and delivers the records without the lock. A client
//! without callbacks contains no code of this module.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_core::{
    CloseReason, Config, Event, Notification, Reply, RequestKey, RequestOptions, SentRequest, ServerInfo, Session, Tag,
    Timestamp,
};

use crate::error::kind_of_call_error;
use crate::handler::AnyClientHandler;
use crate::observer::{CallerData, ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};
use crate::{Direction, Exit, PanicCallbacks, PanicSource};

type OnNotification = Arc<dyn Fn(&Notification) + Send + Sync>;
type OnInvalidMessage = Arc<dyn Fn(&str) + Send + Sync>;
type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

/// The callbacks in the options of a connection.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) on_notification: Option<OnNotification>,
    pub(crate) on_invalid_message: Option<OnInvalidMessage>,
    /// The handler object, which also receives notifications.
    pub(crate) handler: Option<Arc<dyn AnyClientHandler>>,
}

impl Hooks {
    /// Returns whether there is an observer or, for a connection that is opened now, a subscriber of `tracing`.
    fn has_observer(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::tracing::has_subscriber() {
            return true;
        }
        !self.observers.is_empty()
    }
}

/// The callbacks in the options of a connection.
///
/// A trait object, so that a client without callbacks contains no code for them.
pub(crate) trait HookSet: Send + Sync {
    fn clone_box(&self) -> Box<dyn HookSet>;

    /// Returns the callbacks, to add one.
    fn hooks(&mut self) -> &mut Hooks;

    /// Makes the engine report the events that the callbacks need.
    fn configure(&self, config: &mut Config);

    /// Creates the hooks of a connection to the server named `server`.
    fn connect(&self, server: Arc<str>, panics: PanicCallbacks) -> Box<dyn NewHooks>;
}

/// The observer and callbacks of a connection that has no transport and clock yet.
pub trait NewHooks: Send {
    /// Sets the transport and the clock, and returns the hooks of the connection.
    fn start(self: Box<Self>, transport: Transport, clock: Clock) -> Arc<dyn ConnectionHooks>;
}

/// Records the events of one connection, and calls the program's callbacks for them.
pub trait ConnectionHooks: Send + Sync {
    /// Adds the observer's data and trace context to the options of a request. `tool` is the tool that the request calls.
    ///
    /// The task that sends the request calls this method, without holding a lock.
    fn tag(&self, options: RequestOptions, tool: Option<&str>) -> RequestOptions;

    /// Records that the connection is being opened.
    fn connecting(&self);

    /// Records an event of the engine.
    fn record(&self, event: &Event, session: &Session);

    /// Delivers all records and then this event.
    ///
    /// This is [`Self::record`] and [`Self::deliver`] together, without a copy of notifications. Call it without holding a lock.
    fn handle(&self, event: &Event, session: &Session);

    /// Records the start of the server's process.
    fn process_started(&self, pid: u32);

    /// Records the end of the server's process.
    fn process_exited(&self, exit: Option<Exit>);

    /// Records the number of bytes that were sent or received.
    fn bytes(&self, direction: Direction, bytes: u64);

    /// Records the number of notifications that were dropped.
    fn dropped(&self, count: u64);

    /// Calls the program's callbacks for all records, in order.
    ///
    /// Only one thread at a time may call this method, without holding a lock.
    fn deliver(&self);
}

impl HookSet for Hooks {
    fn clone_box(&self) -> Box<dyn HookSet> {
        Box::new(self.clone())
    }

    fn hooks(&mut self) -> &mut Hooks {
        self
    }

    fn configure(&self, config: &mut Config) {
        if self.has_observer() {
            config.report_requests();
        }
    }

    fn connect(&self, server: Arc<str>, panics: PanicCallbacks) -> Box<dyn NewHooks> {
        Box::new(UnstartedHooks { hooks: self.clone(), server, panics })
    }
}

struct UnstartedHooks {
    hooks: Hooks,
    server: Arc<str>,
    panics: PanicCallbacks,
}

impl NewHooks for UnstartedHooks {
    fn start(self: Box<Self>, transport: Transport, clock: Clock) -> Arc<dyn ConnectionHooks> {
        let UnstartedHooks { hooks, server, panics } = *self;
        let recorder = Recorder {
            connection: ConnectionInfo::new(server, transport),
            opening_since: None,
            pending: HashMap::new(),
            records: Vec::new(),
        };
        Arc::new(HookDispatcher {
            hooks,
            panics,
            clock,
            #[cfg(feature = "tracing")]
            tracing: crate::tracing::TracingObserver::new(),
            recorder: Mutex::new(recorder),
        })
    }
}

struct HookDispatcher {
    hooks: Hooks,
    panics: PanicCallbacks,
    clock: Clock,
    #[cfg(feature = "tracing")]
    tracing: Option<crate::tracing::TracingObserver>,
    recorder: Mutex<Recorder>,
}

/// The records that were not delivered yet, and the state that is needed to create records.
struct Recorder {
    connection: ConnectionInfo,
    /// Time at which the opening of the connection began. `None` while the connection is not being opened.
    opening_since: Option<Timestamp>,
    /// The requests without a reply. Always empty if there is no observer.
    pending: HashMap<RequestKey, PendingRequest>,
    records: Vec<Record>,
}

struct PendingRequest {
    info: Arc<RequestInfo>,
    begun: Timestamp,
    attempt: u32,
}

/// An event for the program's callbacks.
enum Record {
    Connecting(ConnectionInfo),
    Connected(ConnectionInfo, Arc<ServerInfo>, Timestamp, Timestamp),
    Begin(Arc<RequestInfo>),
    Attempt(Arc<RequestInfo>, u32),
    End(Arc<RequestInfo>, RequestOutcome, Timestamp, Timestamp),
    Bytes(ConnectionInfo, Direction, u64),
    ProcessStarted(ConnectionInfo, u32),
    ProcessExited(ConnectionInfo, Option<Exit>),
    Restarting(ConnectionInfo),
    #[cfg(feature = "http")]
    SessionReestablished(ConnectionInfo),
    ServerRequestRefused(ConnectionInfo, String),
    #[cfg(feature = "http")]
    DeliveryFailed(ConnectionInfo, Option<String>),
    Dropped(ConnectionInfo, u64),
    Closed(ConnectionInfo, CloseReason),
    InvalidMessage(ConnectionInfo, String),
    Notification(Notification),
}

impl Recorder {
    fn request_sent(&mut self, sent: &SentRequest, now: Timestamp) {
        let key = sent.request.key;
        if let Some(pending) = self.pending.get_mut(&key) {
            // The request is sent again, with the input that the server required.
            Arc::make_mut(&mut pending.info).id = sent.id;
            pending.attempt += 1;
            self.records.push(Record::Attempt(Arc::clone(&pending.info), pending.attempt));
            return;
        }
        let caller_data = sent.tag.as_ref().and_then(Tag::get::<CallerData>);
        let info = Arc::new(RequestInfo {
            connection: self.connection.clone(),
            key,
            id: sent.id,
            method: sent.request.method.clone().into_owned(),
            target: sent.request.target.clone(),
            caller: caller_data.and_then(|caller_data| caller_data.callers.first()?.clone()),
            caller_data: sent.tag.clone(),
            trace_parent: sent.trace_parent.clone(),
        });
        self.records.push(Record::Begin(Arc::clone(&info)));
        self.pending.insert(key, PendingRequest { info, begun: now, attempt: 1 });
    }

    #[cfg(feature = "http")]
    fn request_retried(&mut self, id: u64) {
        if let Some(pending) = self.pending.values_mut().find(|pending| pending.info.id == id) {
            pending.attempt += 1;
            self.records.push(Record::Attempt(Arc::clone(&pending.info), pending.attempt));
        }
    }

    fn request_ended(&mut self, reply: &Reply, now: Timestamp) {
        if let Some(pending) = self.pending.remove(&reply.key()) {
            self.records.push(Record::End(pending.info, outcome(reply), pending.begun, now));
        }
    }
}

fn outcome(reply: &Reply) -> RequestOutcome {
    match reply.error() {
        Some(error) => RequestOutcome::Failed(kind_of_call_error(error)),
        None => match reply.rpc_error_code() {
            Some(code) => RequestOutcome::Refused(code),
            None if reply.is_tool_failure() => RequestOutcome::ToolFailed,
            None => RequestOutcome::Ok,
        },
    }
}

impl HookDispatcher {
    fn recorder(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_observer(&self) -> bool {
        #[cfg(feature = "tracing")]
        if self.tracing.is_some() {
            return true;
        }
        !self.hooks.observers.is_empty()
    }

    /// Adds a record if there is an observer.
    fn record_for_observer(&self, record: impl FnOnce(&mut Recorder) -> Record) {
        if self.has_observer() {
            let mut recorder = self.recorder();
            let record = record(&mut recorder);
            recorder.records.push(record);
        }
    }

    fn record_event(&self, event: &Event, session: &Session) {
        let mut recorder = self.recorder();
        let connection = recorder.connection.clone();
        let record = match event {
            Event::RequestSent(sent) => return recorder.request_sent(sent, (self.clock)()),
            #[cfg(feature = "http")]
            Event::RequestRetried { id } => return recorder.request_retried(*id),
            Event::Reply(reply) => return recorder.request_ended(reply, (self.clock)()),
            Event::Connected => {
                let Some(server) = session.shared_server() else { return };
                recorder.connection.protocol_version = Some(server.protocol_version);
                let now = (self.clock)();
                let since = recorder.opening_since.take().unwrap_or(now);
                Record::Connected(recorder.connection.clone(), server, since, now)
            }
            Event::Restart => Record::Restarting(connection),
            #[cfg(feature = "http")]
            Event::SessionReestablished => Record::SessionReestablished(connection),
            Event::ServerRequestRefused { method } => Record::ServerRequestRefused(connection, method.clone()),
            #[cfg(feature = "http")]
            Event::DeliveryFailed { method, .. } => Record::DeliveryFailed(connection, method.clone()),
            Event::Closed(reason) => Record::Closed(connection, reason.clone()),
            _ => return,
        };
        recorder.records.push(record);
    }

    /// Calls `f` with each observer and its index.
    fn observe_each(&self, f: &dyn Fn(&dyn Observer, usize)) {
        #[cfg(feature = "tracing")]
        if let Some(tracing) = &self.tracing {
            self.panics.catch(PanicSource::Observer, || f(tracing, 0));
        }
        for (index, observer) in self.hooks.observers.iter().enumerate() {
            self.panics.catch(PanicSource::Observer, || f(&**observer, index));
        }
    }

    fn deliver_record(&self, record: Record) {
        let observe = |f: &dyn Fn(&dyn Observer)| self.observe_each(&|observer, _| f(observer));
        let observe_request = |request: &RequestInfo, f: &dyn Fn(&dyn Observer, &RequestInfo)| {
            self.observe_each(&|observer, index| f(observer, &request.for_observer(index)));
        };
        let event = |connection: &ConnectionInfo, event: ConnectionEvent<'_>| {
            observe(&|observer| observer.event(connection, &event));
        };
        match record {
            Record::Connecting(connection) => observe(&|observer| observer.connecting(&connection)),
            Record::Connected(connection, server, since, now) => {
                observe(&|observer| observer.connected(&connection, &server, now.duration_since(since)));
            }
            Record::Begin(request) => observe_request(&request, &|observer, request| observer.begin(request)),
            Record::Attempt(request, attempt) => {
                observe_request(&request, &|observer, request| observer.attempt(request, attempt));
            }
            Record::End(request, outcome, begun, now) => {
                let duration = now.duration_since(begun);
                observe_request(&request, &|observer, request| observer.end(request, &outcome, duration));
            }
            Record::Bytes(connection, direction, bytes) => {
                observe(&|observer| observer.bytes(&connection, direction, bytes));
            }
            Record::ProcessStarted(connection, pid) => event(&connection, ConnectionEvent::ProcessStarted { pid }),
            Record::ProcessExited(connection, exit) => {
                event(&connection, ConnectionEvent::ProcessExited { exit: exit.as_ref() });
            }
            Record::Restarting(connection) => event(&connection, ConnectionEvent::Restarting),
            #[cfg(feature = "http")]
            Record::SessionReestablished(connection) => event(&connection, ConnectionEvent::SessionReestablished),
            Record::ServerRequestRefused(connection, method) => {
                event(&connection, ConnectionEvent::ServerRequestRefused { method: &method });
            }
            #[cfg(feature = "http")]
            Record::DeliveryFailed(connection, method) => {
                event(&connection, ConnectionEvent::DeliveryFailed { method: method.as_deref() });
            }
            Record::Dropped(connection, count) => event(&connection, ConnectionEvent::NotificationsDropped { count }),
            Record::Closed(connection, reason) => event(&connection, ConnectionEvent::Closed { reason: &reason }),
            Record::InvalidMessage(connection, excerpt) => {
                if let Some(f) = &self.hooks.on_invalid_message {
                    self.panics.catch(PanicSource::OnInvalidMessage, || f(&excerpt));
                }
                event(&connection, ConnectionEvent::InvalidMessage { excerpt: &excerpt });
            }
            Record::Notification(notification) => self.deliver_notification(&notification),
        }
    }

    #[inline]
    fn deliver_notification(&self, notification: &Notification) {
        if let Some(f) = &self.hooks.on_notification {
            self.panics.catch(PanicSource::OnNotification, || f(notification));
        }
        if let Some(handler) = &self.hooks.handler {
            let server = Arc::clone(&self.recorder().connection.server);
            self.panics.catch(PanicSource::OnNotification, || handler.notification(&server, notification));
        }
    }
}

impl ConnectionHooks for HookDispatcher {
    fn tag(&self, mut options: RequestOptions, tool: Option<&str>) -> RequestOptions {
        if self.has_observer() {
            let mut callers = Vec::with_capacity(self.hooks.observers.len());
            let mut context = None;
            for observer in &self.hooks.observers {
                let caller = self.panics.catch(PanicSource::Observer, || observer.caller(tool)).flatten();
                let trace = |caller| self.panics.catch(PanicSource::Observer, || observer.trace_context(caller))?;
                context = context.or_else(|| caller.as_ref().and_then(trace));
                callers.push(caller);
            }
            if let Some(context) = context {
                options = options.in_trace(&context);
            }
            options.tag = Some(Tag::new(CallerData {
                callers,
                #[cfg(feature = "tracing")]
                call_site: crate::call_site::CallSite::current(),
            }));
        }
        options
    }

    fn connecting(&self) {
        // A restart of the server is part of the same opening.
        if self.recorder().opening_since.is_none() {
            self.record_for_observer(|recorder| {
                recorder.opening_since = Some((self.clock)());
                Record::Connecting(recorder.connection.clone())
            });
        }
    }

    fn record(&self, event: &Event, session: &Session) {
        match event {
            Event::Notification(notification)
                if self.hooks.on_notification.is_some() || self.hooks.handler.is_some() =>
            {
                self.recorder().records.push(Record::Notification(notification.clone()));
            }
            Event::InvalidMessage { excerpt } => {
                let mut recorder = self.recorder();
                let connection = recorder.connection.clone();
                recorder.records.push(Record::InvalidMessage(connection, excerpt.clone()));
            }
            event if self.has_observer() => self.record_event(event, session),
            _ => {}
        }
    }

    fn handle(&self, event: &Event, session: &Session) {
        if let Event::Notification(notification) = event {
            // Without an observer, no record waits.
            if self.has_observer() {
                self.deliver();
            }
            self.deliver_notification(notification);
        } else {
            self.record(event, session);
            self.deliver();
        }
    }

    fn process_started(&self, pid: u32) {
        self.record_for_observer(|recorder| Record::ProcessStarted(recorder.connection.clone(), pid));
    }

    fn process_exited(&self, exit: Option<Exit>) {
        if self.recorder().connection.transport == Transport::Stdio {
            self.record_for_observer(|recorder| Record::ProcessExited(recorder.connection.clone(), exit));
        }
    }

    fn bytes(&self, direction: Direction, bytes: u64) {
        if bytes > 0 {
            self.record_for_observer(|recorder| Record::Bytes(recorder.connection.clone(), direction, bytes));
        }
    }

    fn dropped(&self, count: u64) {
        if count > 0 {
            self.record_for_observer(|recorder| Record::Dropped(recorder.connection.clone(), count));
        }
    }

    fn deliver(&self) {
        let records = mem::take(&mut self.recorder().records);
        for record in records {
            self.deliver_record(record);
        }
    }
}
