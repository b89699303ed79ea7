//! [`ConnectionHooks`]: calls the program's observers, and its callbacks for notifications and invalid messages.
//!
//! Callbacks must not run while the lock of the connection is held. A client therefore records the events under its lock, and
//! delivers the records to the callbacks later.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

use mcpwire_core::{Event, Notification, Reply, RequestKey, RequestOptions, SentRequest, Session, Tag, Timestamp};

use crate::error::kind_of_call_error;
use crate::handler::AnyClientHandler;
use crate::observer::{CallerData, ConnectionEvent, ConnectionInfo, Observer, RequestInfo, RequestOutcome, Transport};
use crate::{Clock, Direction, Exit, PanicCallbacks, PanicSource, lock};

type OnNotification = Arc<dyn Fn(&Notification) + Send + Sync>;
type OnInvalidMessage = Arc<dyn Fn(&str) + Send + Sync>;

/// The observers and event callbacks that the program has set in the options of a connection.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) on_notification: Option<OnNotification>,
    pub(crate) on_invalid_message: Option<OnInvalidMessage>,
    /// The object of `ConnectOptions::handler`, which also receives notifications.
    pub(crate) handler: Option<Arc<dyn AnyClientHandler>>,
}

/// Records the events of one connection, and passes them to the program's observers and callbacks.
pub struct ConnectionHooks {
    hooks: Hooks,
    panics: PanicCallbacks,
    clock: Clock,
    #[cfg(feature = "tracing")]
    tracing: Option<crate::tracing::TracingObserver>,
    recorder: Mutex<Recorder>,
}

/// The records that were not delivered yet, and the data about the connection and its requests that later records need.
struct Recorder {
    connection: ConnectionInfo,
    /// When the client began to open the connection. `None` before that, and after the connection is open.
    opening_since: Option<Timestamp>,
    /// The requests without a reply, which observers have been told of. Always empty if there is no observer.
    pending: HashMap<RequestKey, PendingRequest>,
    records: Vec<Record>,
}

struct PendingRequest {
    info: Arc<RequestInfo>,
    begun: Timestamp,
    attempt: u32,
}

type ObserverCall = Box<dyn Fn(&dyn Observer, usize) + Send>;

/// An event that was recorded for the program's observers or callbacks, and was not delivered yet.
enum Record {
    /// Calls a method of each observer. The closure takes the observer and its index.
    Observe(ObserverCall),
    InvalidMessage(String),
    Notification(Notification),
}

impl Recorder {
    /// Records that `call` is to be called with each observer and the current description of the connection.
    fn observe(&mut self, call: impl Fn(&dyn Observer, &ConnectionInfo) + Send + 'static) {
        let connection = self.connection.clone();
        self.records.push(Record::Observe(Box::new(move |observer, _| call(observer, &connection))));
    }

    /// Records that `call` is to be called with each observer and the description of a request. The description contains the data
    /// that this observer has returned for the request.
    fn observe_request(
        &mut self,
        request: Arc<RequestInfo>,
        call: impl Fn(&dyn Observer, &RequestInfo) + Send + 'static,
    ) {
        let call = move |observer: &dyn Observer, index| call(observer, &request.for_observer(index));
        self.records.push(Record::Observe(Box::new(call)));
    }

    fn request_sent(&mut self, sent: &SentRequest, now: Timestamp) {
        let key = sent.request.key;
        if let Some(pending) = self.pending.get_mut(&key) {
            // The client has already sent this request. It sends the request again with the input that the server required.
            Arc::make_mut(&mut pending.info).id = sent.id;
            return self.request_repeated(key);
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
        self.observe_request(Arc::clone(&info), Observer::begin);
        self.pending.insert(key, PendingRequest { info, begun: now, attempt: 1 });
    }

    fn request_repeated(&mut self, key: RequestKey) {
        let Some(pending) = self.pending.get_mut(&key) else { return };
        pending.attempt += 1;
        let (info, attempt) = (Arc::clone(&pending.info), pending.attempt);
        self.observe_request(info, move |observer, request| observer.attempt(request, attempt));
    }

    fn request_ended(&mut self, reply: &Reply, now: Timestamp) {
        if let Some(pending) = self.pending.remove(&reply.key()) {
            let (outcome, duration) = (outcome(reply), now.duration_since(pending.begun));
            self.observe_request(pending.info, move |observer, request| observer.end(request, &outcome, duration));
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

/// Converts an event of the engine to the event that observers receive. Returns `None` for events that do not concern the
/// connection as a whole, such as replies.
fn connection_event(event: &Event) -> Option<ConnectionEvent<'_>> {
    Some(match event {
        Event::Restart => ConnectionEvent::Restarting,
        #[cfg(feature = "http")]
        Event::SessionReestablished => ConnectionEvent::SessionReestablished,
        Event::InvalidMessage { excerpt } => ConnectionEvent::InvalidMessage { excerpt },
        Event::ServerRequestRefused { method } => ConnectionEvent::ServerRequestRefused { method },
        #[cfg(feature = "http")]
        Event::DeliveryFailed { method, .. } => ConnectionEvent::DeliveryFailed { method: method.as_deref() },
        Event::Closed(reason) => ConnectionEvent::Closed { reason },
        _ => return None,
    })
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

    /// Returns whether the program has set an observer, or had a `tracing` subscriber when the connection was created.
    pub(crate) fn has_observer(&self) -> bool {
        #[cfg(feature = "tracing")]
        if self.tracing.is_some() {
            return true;
        }
        !self.hooks.observers.is_empty()
    }

    /// Records that `call` is to be called with each observer. Does nothing if there are no observers.
    fn observe(&self, call: impl Fn(&dyn Observer, &ConnectionInfo) + Send + 'static) {
        if self.has_observer() {
            lock(&self.recorder).observe(call);
        }
    }

    fn observe_event(&self, event: &Event, session: &Session) {
        let mut recorder = lock(&self.recorder);
        match event {
            Event::RequestSent(sent) => recorder.request_sent(sent, self.clock.now()),
            #[cfg(feature = "http")]
            Event::RequestRetried { id } => {
                let retried = recorder.pending.iter().find(|(_, pending)| pending.info.id == *id);
                if let Some(key) = retried.map(|(key, _)| *key) {
                    recorder.request_repeated(key);
                }
            }
            Event::Reply(reply) => recorder.request_ended(reply, self.clock.now()),
            Event::Connected => {
                let Some(server) = session.shared_server() else { return };
                recorder.connection.protocol_version = Some(server.protocol_version);
                let now = self.clock.now();
                let duration = now.duration_since(recorder.opening_since.take().unwrap_or(now));
                recorder.observe(move |observer, connection| observer.connected(connection, &server, duration));
            }
            event if connection_event(event).is_some() => {
                let event = event.clone();
                recorder.observe(move |observer, connection| {
                    if let Some(event) = connection_event(&event) {
                        observer.event(connection, &event);
                    }
                });
            }
            _ => {}
        }
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

    fn deliver_notification(&self, notification: &Notification) {
        if let Some(f) = &self.hooks.on_notification {
            self.panics.catch(PanicSource::OnNotification, || f(notification));
        }
        if let Some(handler) = &self.hooks.handler {
            let server = Arc::clone(&lock(&self.recorder).connection.server);
            self.panics.catch(PanicSource::OnNotification, || handler.notification(&server, notification));
        }
    }

    /// Adds the observers' data about the calling code, and their trace context, to the options of a request. `tool` is the name
    /// of the called tool.
    ///
    /// Call this in the task that sends the request, without holding a lock.
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
                call_site: crate::trace_context::CallSite::current(),
            }));
        }
        options
    }

    /// Records that the client begins to open the connection.
    pub fn connecting(&self) {
        let mut recorder = lock(&self.recorder);
        // If the client restarts the server, the opening of the connection continues.
        if self.has_observer() && recorder.opening_since.is_none() {
            recorder.opening_since = Some(self.clock.now());
            recorder.observe(Observer::connecting);
        }
    }

    /// Records an event of the engine, if an observer or callback of the program is to receive the event.
    pub fn record(&self, event: &Event, session: &Session) {
        match event {
            Event::Notification(notification)
                if self.hooks.on_notification.is_some() || self.hooks.handler.is_some() =>
            {
                lock(&self.recorder).records.push(Record::Notification(notification.clone()));
            }
            Event::InvalidMessage { excerpt } if self.hooks.on_invalid_message.is_some() => {
                lock(&self.recorder).records.push(Record::InvalidMessage(excerpt.clone()));
            }
            _ => {}
        }
        if self.has_observer() {
            self.observe_event(event, session);
        }
    }

    /// Records that the server's process was started, with its process id.
    pub fn process_started(&self, pid: u32) {
        self.observe(move |observer, connection| observer.event(connection, &ConnectionEvent::ProcessStarted { pid }));
    }

    /// Records that the server's process has ended. `exit` is `None` if the system did not report the exit status.
    pub fn process_exited(&self, exit: Option<Exit>) {
        self.observe(move |observer, connection| {
            if connection.transport == Transport::Stdio {
                observer.event(connection, &ConnectionEvent::ProcessExited { exit: exit.as_ref() });
            }
        });
    }

    /// Records that this number of bytes was sent or received.
    pub fn bytes(&self, direction: Direction, bytes: u64) {
        if bytes > 0 {
            self.observe(move |observer, connection| observer.bytes(connection, direction, bytes));
        }
    }

    /// Records that this number of notifications was dropped because the program did not take them in time.
    pub fn dropped(&self, count: u64) {
        if count > 0 {
            self.observe(move |observer, connection| {
                observer.event(connection, &ConnectionEvent::NotificationsDropped { count });
            });
        }
    }

    /// Passes all records to the program's observers and callbacks, in the order of the events.
    ///
    /// Call this without holding a lock, and from only one thread at a time.
    pub fn deliver(&self) {
        let records = mem::take(&mut lock(&self.recorder).records);
        for record in records {
            match record {
                Record::Observe(call) => self.observe_each(&*call),
                Record::InvalidMessage(excerpt) => {
                    if let Some(f) = &self.hooks.on_invalid_message {
                        self.panics.catch(PanicSource::OnInvalidMessage, || f(&excerpt));
                    }
                }
                Record::Notification(notification) => self.deliver_notification(&notification),
            }
        }
    }
}
