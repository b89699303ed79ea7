//! [`ConnectionHooks`]: calls the [`Observer`] and the callbacks for notifications and invalid messages.
//!
//! An adapter records the events of the engine while it holds its lock, and delivers the records without the lock.

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
use crate::{Clock, Direction, Exit, PanicCallbacks, PanicSource};

type OnNotification = Arc<dyn Fn(&Notification) + Send + Sync>;
type OnInvalidMessage = Arc<dyn Fn(&str) + Send + Sync>;

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
    /// Makes the engine report the events that the callbacks need.
    pub(crate) fn configure(&self, config: &mut Config) {
        if self.has_observer() {
            config.report_requests();
        }
    }

    /// Returns whether there is an observer or, for a connection that is opened now, a subscriber of `tracing`.
    fn has_observer(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::tracing::has_subscriber() {
            return true;
        }
        !self.observers.is_empty()
    }
}

/// Records the events of one connection, and calls the program's callbacks for them.
pub struct ConnectionHooks {
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

impl ConnectionHooks {
    /// Creates the hooks of a connection to the server named `server`.
    pub(crate) fn new(
        hooks: Hooks,
        server: Arc<str>,
        panics: PanicCallbacks,
        transport: Transport,
        clock: Clock,
    ) -> Self {
        let recorder = Recorder {
            connection: ConnectionInfo::new(server, transport),
            opening_since: None,
            pending: HashMap::new(),
            records: Vec::new(),
        };
        ConnectionHooks {
            hooks,
            panics,
            clock,
            #[cfg(feature = "tracing")]
            tracing: crate::tracing::TracingObserver::new(),
            recorder: Mutex::new(recorder),
        }
    }

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
            Event::RequestSent(sent) => return recorder.request_sent(sent, self.clock.now()),
            #[cfg(feature = "http")]
            Event::RequestRetried { id } => return recorder.request_retried(*id),
            Event::Reply(reply) => return recorder.request_ended(reply, self.clock.now()),
            Event::Connected => {
                let Some(server) = session.shared_server() else { return };
                recorder.connection.protocol_version = Some(server.protocol_version);
                let now = self.clock.now();
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

    /// Adds the observer's data and trace context to the options of a request. `tool` is the tool that the request calls.
    ///
    /// The task that sends the request calls this method, without holding a lock.
    pub fn tag(&self, mut options: RequestOptions, tool: Option<&str>) -> RequestOptions {
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
                call_site: crate::observer::CallSite::current(),
            }));
        }
        options
    }

    /// Records that the connection is being opened.
    pub fn connecting(&self) {
        // A restart of the server is part of the same opening.
        if self.recorder().opening_since.is_none() {
            self.record_for_observer(|recorder| {
                recorder.opening_since = Some(self.clock.now());
                Record::Connecting(recorder.connection.clone())
            });
        }
    }

    /// Records an event of the engine.
    pub fn record(&self, event: &Event, session: &Session) {
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

    /// Records the start of the server's process.
    pub fn process_started(&self, pid: u32) {
        self.record_for_observer(|recorder| Record::ProcessStarted(recorder.connection.clone(), pid));
    }

    /// Records the end of the server's process.
    pub fn process_exited(&self, exit: Option<Exit>) {
        if self.recorder().connection.transport == Transport::Stdio {
            self.record_for_observer(|recorder| Record::ProcessExited(recorder.connection.clone(), exit));
        }
    }

    /// Records the number of bytes that were sent or received.
    pub fn bytes(&self, direction: Direction, bytes: u64) {
        if bytes > 0 {
            self.record_for_observer(|recorder| Record::Bytes(recorder.connection.clone(), direction, bytes));
        }
    }

    /// Records the number of notifications that were dropped.
    pub fn dropped(&self, count: u64) {
        if count > 0 {
            self.record_for_observer(|recorder| Record::Dropped(recorder.connection.clone(), count));
        }
    }

    /// Calls the program's callbacks for all records, in order.
    ///
    /// Only one thread at a time may call this method, without holding a lock.
    pub fn deliver(&self) {
        let records = mem::take(&mut self.recorder().records);
        for record in records {
            self.deliver_record(record);
        }
    }
}
