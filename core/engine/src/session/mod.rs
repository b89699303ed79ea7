//! The protocol's behaviour on whole messages, whatever carries them.
//!
//! [`Session`] routes messages, calls and deadlines to the parts below it. A part is a struct with a state of its own; it works
//! with a [`Context`] and with the parts below it, and never knows the session.
//!
//! | file | what it does |
//! |---|---|
//! | `calls` | [`Calls`]: everything that an embedder asks of a connection |
//! | `connection` | the state of the connection, and what was negotiated |
//! | `opening`, `handshake` | opens the connection; the state table of both eras |
//! | `requests`, `timers` | which request waits for which answer, and until when |
//! | `server_requests` | what the server asks of the client |
//! | `input_required` | requests that the server wants input for |
//! | `tasks` | calls that have become tasks |
//! | `subscriptions` | what the server reports of changes |
//! | `response_cache` | answers that are kept |
//! | `incoming` | reads notifications, takes arrays of messages apart |
//! | `context` | what all parts share |
//! | `config`, `offers` | what the embedder decides |
//! | `event`, `ticket`, `server`, `error`, `closed`, `task_fault`, `fault` | what comes out |

mod calls;
mod closed;
mod config;
mod connection;
mod context;
mod error;
mod event;
mod fault;
mod handshake;
mod incoming;
mod input_required;
mod keys;
mod objects;
mod offers;
mod opening;
mod prepared;
mod protocol_fields;
mod requested;
mod requests;
mod response_cache;
mod retry_params;
mod server;
mod server_requests;
mod subscriptions;
mod task_fault;
mod tasks;
mod ticket;
mod timers;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use connection::{Connection, Negotiated};
use context::Context;
use incoming::{Batch, Incoming};
use input_required::InputRequired;
use opening::{Opened, Opening, OpeningContext};
use prepared::{Caching, send_error};
use requests::{CallerRequest, Deadlines, OpeningRequest, Owner, Requests, TaskUse};
use response_cache::{Lookup, ResponseCache};
use server_requests::{Answered, Refusal, ServerRequests};
use subscriptions::Subscriptions;
use tasks::Tasks;

use crate::cache::{PendingEntry, is_cacheable};
use crate::json::from_json::FromJson;
use crate::json::scan;
use crate::method::Method;
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{Peek, peek};
use crate::rpc::write::{self, Meta, Push};
use crate::rpc::{PeerError, WireId};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::types::{Era, LoggingLevel, SubscriptionFilter, TaskHandle};

pub use calls::Calls;
pub use closed::{Closed, ConnectError};
pub use config::{Config, Negotiate, RequestOptions, TaskMode};
pub use error::{CallError, Deadline, InputError, SendError};
pub use event::{Ask, Event, Message, Notification};
pub(crate) use fault::RequestFault;
pub use keys::{AskKey, RequestKey, SubscriptionKey};
pub use prepared::{Prepared, PreparedRequest};
pub use requested::AskRequest;
pub use server::{Phase, ServerInfo, Stats};
pub use subscriptions::{Relisten, Reopen, SubscribeOptions, SubscriptionEnd, SubscriptionEvent};
pub use task_fault::TaskFault;
pub use ticket::{Reply, Ticket};

/// The client's side of one connection: what is known of it. [`Calls`] asks something of it.
#[derive(Debug)]
pub struct Session {
    config: Config,
    connection: Connection,
    /// Known once the connection is open, and after its end.
    server: Option<Arc<ServerInfo>>,
    requests: Requests,
    server_requests: ServerRequests,
    input_required: InputRequired,
    tasks: Tasks,
    subscriptions: Subscriptions,
    cache: ResponseCache,
    events: VecDeque<Event>,
    /// The rest of an array of messages.
    batch: Option<Batch>,
    stats: Stats,
    /// The number of bytes to send from which on requests of the server get no answer.
    answer_limit: usize,
}

/// Lends the parts of a session that all others share.
macro_rules! context {
    ($session:ident, $now:expr, $out:expr) => {
        &mut Context {
            now: $now,
            out: $out,
            events: &mut $session.events,
            requests: &mut $session.requests,
            stats: &mut $session.stats,
            answer_limit: $session.answer_limit,
            connection: &$session.connection,
            config: &$session.config,
        }
    };
}

/// A request of a caller, before it is sent.
struct NewRequest<'a> {
    method: Cow<'static, str>,
    params: Push<'a>,
    caching: Caching,
}

/// What an embedder may look at.
impl Session {
    /// Returns how far the connection has come.
    pub fn phase(&self) -> Phase {
        self.connection.phase()
    }

    /// Returns the server that the connection is open to. It stays known after the end.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.server.as_deref()
    }

    /// Returns the same as [`Self::server`], to be kept elsewhere.
    pub fn shared_server(&self) -> Option<Arc<ServerInfo>> {
        self.server.clone()
    }

    /// Returns the number of requests that wait for an answer, with those whose server waits for input.
    pub fn in_flight(&self) -> usize {
        self.requests.callers() + self.tasks.len() + self.input_required.len()
    }

    /// Whether a request waits for its answer.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.requests.id_of(key).is_some() || self.input_required.is_waiting(key) || self.tasks.is_waiting(key)
    }

    /// Returns the number of subscriptions, with those that are over and not polled to their end.
    #[inline]
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    /// Whether answers to `M` may be cached, and something is: an adapter should read what has arrived before it sends such a
    /// request, because the server may have reported a change.
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        !self.cache.is_empty() && const { is_cacheable(M::NAME) }
    }

    /// Whether there is an event to poll, without reading anything more.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether the server is to be told when the roots change, by [`RootsListChanged`](crate::RootsListChanged): a legacy server
    /// that the capability was declared to (2025-11-25, client/roots, "Root List Changes").
    pub fn tells_roots_changes(&self) -> bool {
        self.connection.is_era(Era::Legacy) && self.config.capabilities.tells_roots_changes()
    }

    /// Returns the counts of messages that were ignored or refused.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

/// What engines do with a session.
impl Session {
    pub(crate) fn new(config: Config) -> Self {
        Session {
            cache: ResponseCache::new(config.cache),
            config,
            connection: Connection::New,
            server: None,
            requests: Requests::default(),
            server_requests: ServerRequests::default(),
            input_required: InputRequired::default(),
            tasks: Tasks::default(),
            subscriptions: Subscriptions::default(),
            events: VecDeque::new(),
            batch: None,
            stats: Stats::default(),
            answer_limit: usize::MAX,
        }
    }

    /// Returns a session for a server that is started again, after [`Event::Restart`]. It takes the configuration over; `spent`
    /// is the time since the opening began.
    pub(crate) fn restarted(&mut self, spent: Duration) -> Session {
        Session::new(mem::take(&mut self.config).after_restart(spent))
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Adds an event. Not inlined: the code that makes room for an event is compiled once.
    #[inline(never)]
    pub(crate) fn add_event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    /// Returns when [`Self::handle_timeout`] is to be called at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Timestamp> {
        let opening = match &self.connection {
            Connection::Opening(opening) => Some(opening.poll_timeout()),
            _ => None,
        };
        let (inputs, tasks) = (self.input_required.poll_timeout(), self.tasks.poll_timeout());
        [opening, self.requests.poll_timeout(), inputs, self.subscriptions.poll_timeout(), tasks]
            .into_iter()
            .flatten()
            .min()
    }

    /// Handles the deadlines that have passed.
    pub(crate) fn handle_timeout(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        let is_due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        self.step_opening(now, out, Opening::handle_timeout);
        if is_due(self.subscriptions.poll_timeout()) {
            self.subscriptions.handle_timeout(context!(self, now, out));
        }
        while let Some((id, owner, deadlines, missed)) = self.requests.expire(now) {
            context!(self, now, out).send_cancelled(id, "timed out");
            match owner {
                Owner::Caller(caller) => {
                    let error = deadlines.error(caller.method, missed);
                    self.finish(caller.cache_entry, Reply::failed(caller.key, error), now);
                }
                Owner::Task { call, request } => {
                    let error = deadlines.error(request.method().into(), missed);
                    let context = context!(self, now, out);
                    self.tasks.unanswered(call, request, id, error, &mut self.server_requests, context);
                }
                // The others have no deadlines in the table.
                _ => {}
            }
        }
        if is_due(self.tasks.poll_timeout()) {
            self.tasks.handle_timeout(&mut self.server_requests, context!(self, now, out));
        }
        self.input_required.expire(&mut self.server_requests, context!(self, now, out));
    }

    /// Frees the buffers that only requests need, if no request waits.
    pub(crate) fn release_buffers(&mut self) {
        if self.in_flight() == 0 && self.events.is_empty() {
            self.requests.release_buffers();
            self.input_required.release_buffers();
            self.events = VecDeque::new();
        }
    }

    /// Whether an array of messages was taken apart in part only.
    pub(crate) fn is_in_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Handles that the connection has ended: all requests end with it.
    pub(crate) fn close(&mut self, reason: Closed) {
        let end = match &mut self.connection {
            Connection::Closed => return,
            Connection::Opening(opening) if reason == Closed::ByServer => Some(opening.stream_ended()),
            Connection::Opening(_) => match &reason {
                Closed::ByClient => Some(Opened::Failed(ConnectError::Cancelled)),
                Closed::Failed(why) => Some(Opened::Failed(ConnectError::Failed(Arc::clone(why)))),
                _ => None,
            },
            _ => None,
        };
        match end {
            Some(Opened::Restart) => {
                self.end(&Closed::ByServer);
                self.add_event(Event::Restart);
            }
            Some(Opened::Failed(error)) => self.end_with_event(Closed::NotOpened(Arc::new(error))),
            _ => self.end_with_event(reason),
        }
    }

    fn end_with_event(&mut self, reason: Closed) {
        self.end(&reason);
        self.add_event(Event::Closed(reason));
    }

    fn end(&mut self, reason: &Closed) {
        self.connection = Connection::Closed;
        // Nothing is sent, and nothing is cached, so the time does not matter.
        let (now, out) = (Timestamp::ORIGIN, &mut Vec::new());
        while let Some(request) = self.requests.pop() {
            if let Owner::Caller(caller) = request.owner {
                let error = CallError::Closed { method: caller.method, reason: reason.clone() };
                self.finish(caller.cache_entry, Reply::failed(caller.key, error), now);
            }
        }
        self.input_required.close(reason, &mut self.server_requests, context!(self, now, out));
        self.cache = ResponseCache::new(self.config.cache);
        self.tasks.close(reason, &mut self.server_requests, context!(self, now, out));
        self.server_requests.withdraw_all(context!(self, now, out));
        self.subscriptions.close(reason, context!(self, now, out));
    }
}

/// What [`Calls`] does.
impl Session {
    fn initialize(&mut self, now: Timestamp, out: &mut Vec<u8>) -> Result<(), SendError> {
        match &self.connection {
            Connection::New => {}
            Connection::Closed => return Err(SendError::Closed),
            _ => return Err(SendError::AlreadyInitialized),
        }
        let context = &mut OpeningContext { now, out, requests: &mut self.requests, config: &self.config };
        self.connection = Connection::Opening(Opening::begin(context));
        Ok(())
    }

    fn send(
        &mut self,
        request: NewRequest<'_>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, SendError> {
        let NewRequest { method, params, caching } = request;
        self.connection.check_open(out, &self.config)?;
        let limit = self.config.max_in_flight;
        if self.in_flight() >= limit {
            return Err(SendError::TooManyInFlight { limit });
        }
        if options.meta.as_ref().is_some_and(|meta| !meta.is_object()) {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let context = context!(self, now, out);
        let cache_entry = match self.cache.look_up(caching, &method, params, options, context)? {
            Lookup::Miss(entry) => entry,
            Lookup::Hit { message, id } => {
                let key = context.requests.fresh_key();
                context.stats.cached += 1;
                let reply = Reply { cached: true, ..Reply::answered(key, method, message, id) };
                context.report(Event::Reply(reply));
                return Ok(key);
            }
        };
        let (tasks, asks_for_task) = self.tasks.task_use(&method, options, context);
        if tasks != TaskUse::None {
            self.connection.declare_tasks(&self.config);
        }
        let context = context!(self, now, out);
        let connection = context.connection;
        let id = context.requests.next_id();
        let meta = Meta {
            protocol: if tasks == TaskUse::None { connection.request_meta() } else { connection.task_meta() },
            progress_token: options.wants_progress().then_some(id),
            caller: options.meta.as_ref(),
        };
        let params_with_task = |out: &mut Vec<u8>| {
            params.push(out)?;
            tasks::push_task_param(out, options);
            Ok(())
        };
        let params = if asks_for_task { &params_with_task } else { params };
        let written =
            write::request(context.out, id, &method, params, meta).map_err(|error| send_error(&method, error))?;
        let retry = if input_required::may_require_input(&method, context) {
            self.input_required.retry_params(&context.out[written], options.meta.as_ref(), context)
        } else {
            None
        };
        let key = context.requests.fresh_key();
        let caller = CallerRequest {
            key,
            method,
            wants_progress: options.wants_progress(),
            repeatable: options.repeatable,
            tasks,
            input_rounds: 0,
            retry,
            cache_entry,
        };
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        // A request that may be silent for longer than the total may take that long.
        let total = options.total_timeout.unwrap_or(self.config.total_timeout.max(timeout));
        self.requests.insert(Owner::Caller(caller), Some(Deadlines::new(now, timeout, total)));
        Ok(key)
    }

    fn notify(&mut self, method: &str, params: Push<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.connection.check_open(out, &self.config)?;
        write::notification(out, method, params).map_err(|error| send_error(method, error))
    }

    fn check_open(&self, out: &[u8]) -> Result<(), SendError> {
        self.connection.check_open(out, &self.config)
    }

    fn check_allowed(&self, method: &'static str, bit: u32) -> Result<(), SendError> {
        self.connection.check_allowed(method, bit)
    }

    fn is_undeclared(&self, bit: u32) -> bool {
        self.connection.is_undeclared(bit)
    }

    fn is_modern(&self) -> bool {
        self.connection.is_era(Era::Modern)
    }

    fn cancel(&mut self, key: RequestKey, reason: Option<&str>, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let context = context!(self, now, out);
        let Some(id) = context.requests.id_of(key) else {
            return self.input_required.cancel(key, &mut self.server_requests, context)
                || self.tasks.cancel(key, &mut self.server_requests, context);
        };
        let Some(Owner::Caller(caller)) = context.requests.abandon(id).map(|request| request.owner) else {
            return false;
        };
        context.send_cancelled(id, reason.unwrap_or("the caller gave up"));
        context.fail(key, CallError::Cancelled { method: caller.method });
        true
    }

    fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, SendError> {
        self.connection.declare_tasks(&self.config);
        self.tasks.follow(handle, options, &mut self.server_requests, context!(self, now, out))
    }

    fn set_log_level(&mut self, level: &LoggingLevel) {
        self.config.log_level = Some(level.clone());
        self.connection.refresh_request_meta(&self.config);
    }

    fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<SubscriptionKey, SendError> {
        self.subscriptions.subscribe(wanted, options, context!(self, now, out))
    }

    fn unsubscribe(&mut self, key: SubscriptionKey, now: Timestamp, out: &mut Vec<u8>) -> bool {
        self.subscriptions.unsubscribe(key, context!(self, now, out))
    }

    fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        self.subscriptions.poll(key)
    }

    fn answer(&mut self, key: AskKey, result: Push<'_>, now: Timestamp, out: &mut Vec<u8>) -> Result<bool, SendError> {
        let answered = self.server_requests.answer(key, result, context!(self, now, out))?;
        Ok(self.input_answered(answered, now, out))
    }

    fn refuse(&mut self, key: AskKey, refusal: &Refusal<'_>, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let answered = self.server_requests.refuse(key, refusal, context!(self, now, out));
        self.input_answered(answered, now, out)
    }

    /// Hands inputs to the request or the task that they are for. Returns whether somebody waited for the answer.
    fn input_answered(&mut self, answered: Answered, now: Timestamp, out: &mut Vec<u8>) -> bool {
        use server_requests::InputOwner::{Request, Task};
        let context = context!(self, now, out);
        let server_requests = &mut self.server_requests;
        match answered {
            Answered::Unknown => return false,
            Answered::Done => {}
            Answered::Complete(Request(key), answers) => {
                self.input_required.answered(key, &answers, server_requests, context);
            }
            Answered::Complete(Task(key, _), answer) => {
                self.tasks.input_answered(key, &answer, server_requests, context);
            }
            Answered::Refused(Request(key), error) => {
                self.input_required.refused(key, error, server_requests, context);
            }
            Answered::Refused(Task(key, _), error) => self.tasks.input_refused(key, error, server_requests, context),
        }
        true
    }
}

/// What the session does with messages of the server.
impl Session {
    /// Handles a message. An array of messages is taken apart as its events are polled, by [`Self::resume`].
    pub(crate) fn receive(&mut self, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        while self.resume(now, out) {}
        if self.connection.is_closed() {
            return;
        }
        if scan::is_array(message.bytes()) {
            self.batch = Some(Batch::new(message.into_bytes()));
            self.resume(now, out);
        } else if let Some(id) = self.receive_one(message.bytes(), now, out) {
            self.response(id, message, now, out);
        }
    }

    /// Goes on with an array of messages until it brings an event or ends. Returns `false` if there is none. The events of a
    /// long array are not made ahead of time, because they need more memory than the messages.
    #[inline]
    pub(crate) fn resume(&mut self, now: Timestamp, out: &mut Vec<u8>) -> bool {
        match self.batch.take() {
            Some(batch) => self.resume_batch(batch, now, out),
            None => false,
        }
    }

    fn resume_batch(&mut self, mut batch: Batch, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let before = self.events.len();
        while let Some(element) = batch.next_message() {
            if self.connection.is_closed() {
                continue;
            }
            let message = &batch.bytes[element];
            if let Some(id) = self.receive_one(message, now, out) {
                self.response(id, message, now, out);
            }
            if self.events.len() > before {
                self.batch = Some(batch);
                return true;
            }
        }
        if !batch.has_messages {
            self.noise(&batch.bytes);
        }
        true
    }

    /// Handles one message, unless it is the response to a request: then it returns the id for [`Self::response`].
    fn receive_one(&mut self, message: &[u8], now: Timestamp, out: &mut Vec<u8>) -> Option<u64> {
        match peek(message) {
            Peek::Response { id } => {
                let id = id.number();
                if id.is_none() {
                    self.stats.foreign += 1;
                }
                return id;
            }
            Peek::Request { id, method } => {
                self.server_requests.receive(id, &method, message, context!(self, now, out));
            }
            Peek::Notification { method } => match incoming::read(&method, message) {
                Some(incoming) => self.notification(incoming, message, now, out),
                None => self.noise(message),
            },
            Peek::OrphanError => self.orphan_error(message, now, out),
            Peek::Noise | Peek::Batch => self.noise(message),
        }
        None
    }

    fn response(&mut self, id: u64, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        match self.requests.remove(id) {
            Some(requests::Request { owner: Owner::Caller(mut caller), deadlines: Some(deadlines) }) => {
                let context = context!(self, now, out);
                let wants_input = input_required::wants_input(&caller, message.bytes(), context);
                if wants_input || caller.tasks == TaskUse::Followed {
                    return self.unfinished_response(
                        caller,
                        deadlines,
                        wants_input,
                        id,
                        message.into_bytes(),
                        now,
                        out,
                    );
                }
                self.input_required.recycle(&mut caller);
                let reply = Reply::answered(caller.key, caller.method, message.into_bytes(), id);
                self.finish(caller.cache_entry, reply, now);
            }
            Some(request) => self.own_response(&request.owner, id, message.bytes(), now, out),
            None if self.requests.was_sent(id) => self.stats.late += 1,
            None => self.stats.foreign += 1,
        }
    }

    /// Handles a response that may ask for input, or be a task.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "they are the parts of one request and its response")]
    fn unfinished_response(
        &mut self,
        mut caller: CallerRequest,
        deadlines: Deadlines,
        wants_input: bool,
        id: u64,
        message: Vec<u8>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        let context = context!(self, now, out);
        if wants_input {
            self.input_required.receive(caller, deadlines, id, &message, &mut self.server_requests, context);
        } else if Tasks::is_task(&message, context) {
            self.tasks.begin(caller, deadlines, id, &message, &mut self.server_requests, context);
        } else {
            self.input_required.recycle(&mut caller);
            let reply = Reply::answered(caller.key, caller.method, message, id);
            self.finish(caller.cache_entry, reply, now);
        }
    }

    /// Handles the response to a request of the session's own.
    #[cold]
    #[inline(never)]
    fn own_response(&mut self, owner: &Owner, id: u64, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        match *owner {
            Owner::Opening(OpeningRequest::Discover) => {
                let outcome = read_response(message, id);
                self.step_opening(now, out, |opening, context| opening.discovered(outcome, context));
            }
            Owner::Opening(OpeningRequest::Initialize) => {
                let outcome = read_response(message, id);
                self.step_opening(now, out, |opening, context| opening.initialized(outcome, context));
            }
            Owner::Task { call, request } => {
                let context = context!(self, now, out);
                self.tasks.answered(call, request, id, message.to_vec(), &mut self.server_requests, context);
            }
            Owner::Subscription(key) => self.subscriptions.answered(key, id, message, context!(self, now, out)),
            Owner::ResourceSubscribe => self.subscriptions.resource_answered(id, message, context!(self, now, out)),
            Owner::Caller(_) | Owner::Nobody => {}
            #[cfg(feature = "http")]
            Owner::Transport => {}
        }
    }

    /// Handles that a request ends without an answer. Returns `false` if no such request waits.
    pub(crate) fn fail(&mut self, id: u64, fault: RequestFault, now: Timestamp, out: &mut Vec<u8>) -> bool {
        let Some(request) = self.requests.remove(id) else { return false };
        match request.owner {
            Owner::Opening(OpeningRequest::Discover) => {
                self.step_opening(now, out, |opening, context| opening.discovered(Err(fault), context));
            }
            Owner::Opening(OpeningRequest::Initialize) => {
                self.step_opening(now, out, |opening, context| opening.initialized(Err(fault), context));
            }
            Owner::Caller(caller) => {
                let error = fault.into_error(caller.method);
                self.finish(caller.cache_entry, Reply::failed(caller.key, error), now);
            }
            Owner::Task { call, request } => {
                let error = fault.into_error(request.method().into());
                let context = context!(self, now, out);
                self.tasks.unanswered(call, request, id, error, &mut self.server_requests, context);
            }
            Owner::Subscription(key) => {
                let end = SubscriptionEnd::Failed(fault.into_error("subscriptions/listen".into()));
                self.subscriptions.listening_ended(key, end, context!(self, now, out));
            }
            Owner::ResourceSubscribe => {
                self.subscriptions.resource_failed(id, fault, context!(self, now, out));
            }
            Owner::Nobody => {}
            #[cfg(feature = "http")]
            Owner::Transport => {}
        }
        true
    }

    /// Handles that a message is longer than [`Config::max_message`], by how it begins: the request that it answers fails.
    pub(crate) fn receive_overlong(&mut self, head: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if self.connection.is_closed() {
            return;
        }
        let id = match peek(head) {
            Peek::Response { id } => id.number(),
            _ => None,
        };
        if !id.is_some_and(|id| self.fail_overlong(id, head, now, out)) {
            self.noise(head);
        }
    }

    /// Handles how such a message ends, in case only its end names the request.
    pub(crate) fn receive_overlong_end(&mut self, tail: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        // The tail is completed to a short message: only its beginning is missing.
        let mut message = Vec::from(&b"{\"result\":0"[..]);
        let last = memchr::memrchr(b',', tail);
        let second_last = last.and_then(|last| memchr::memrchr(b',', &tail[..last]).or(Some(last)));
        for from in [second_last, last].into_iter().flatten() {
            message.truncate(11);
            message.extend_from_slice(&tail[from..]);
            if let Peek::Response { id } = peek(&message)
                && id.number().is_some_and(|id| self.fail_overlong(id, tail, now, out))
            {
                return;
            }
        }
    }

    fn fail_overlong(&mut self, id: u64, seen: &[u8], now: Timestamp, out: &mut Vec<u8>) -> bool {
        let error = PeerError::too_long(self.config.max_message, seen);
        self.fail(id, RequestFault::Invalid(error), now, out)
    }

    fn notification(&mut self, incoming: Incoming, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let context = context!(self, now, out);
        match incoming {
            Incoming::Progress(progress) => {
                let id = progress.progress_token.as_ref().and_then(|token| WireId(token.get().as_bytes()).number());
                let key = id.and_then(|id| context.requests.progress(id, now).or_else(|| self.tasks.progress(id)));
                match key {
                    Some(key) => self.report(Notification::Progress { key, progress }, message, now, out),
                    // Nobody asked for it, or it comes after the answer.
                    None => self.stats.late += 1,
                }
            }
            Incoming::Cancelled => {
                if !self.subscriptions.cancelled(message, context) {
                    self.server_requests.cancelled(message, context);
                }
            }
            Incoming::TaskStatus(task) => self.tasks.notified(task, &mut self.server_requests, context),
            Incoming::Other(notification) => self.report(notification, message, now, out),
        }
    }

    /// Reports a notification, and before that makes stale what it says has changed. Subscribers hear of it afterwards.
    #[inline(never)]
    fn report(&mut self, notification: Notification, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        self.cache.notified(&notification, &mut self.requests);
        let before = self.events.len();
        self.subscriptions.notified(&notification, message, context!(self, now, out));
        self.events.insert(before, Event::Notification(notification));
    }

    /// Handles an error without an id. While only the probe was sent, it is the answer to it.
    fn orphan_error(&mut self, message: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let Some(error) = decode::orphan_error(message) else { return self.noise(message) };
        if matches!(&self.connection, Connection::Opening(opening) if opening.is_probing()) {
            self.requests.remove_opening(OpeningRequest::Discover);
            let outcome = Err(RequestFault::Server(error));
            self.step_opening(now, out, |opening, context| opening.discovered(outcome, context));
        } else {
            self.add_event(Event::OrphanError(error));
        }
    }

    fn noise(&mut self, message: &[u8]) {
        self.stats.noise += 1;
        self.add_event(Event::Noise { excerpt: excerpt(message) });
    }

    /// Ends a caller's request.
    #[inline]
    fn finish(&mut self, cache_entry: Option<Box<PendingEntry>>, reply: Reply, now: Timestamp) {
        let reply = match cache_entry {
            Some(entry) => self.cache.fill(*entry, reply, now),
            None => reply,
        };
        self.add_event(Event::Reply(reply));
    }

    /// Takes a step of the opening, if the connection is being opened.
    fn step_opening(
        &mut self,
        now: Timestamp,
        out: &mut Vec<u8>,
        step: impl FnOnce(&mut Opening, &mut OpeningContext<'_>) -> Option<Opened>,
    ) {
        let Connection::Opening(opening) = &mut self.connection else { return };
        let context = &mut OpeningContext { now, out, requests: &mut self.requests, config: &self.config };
        match step(opening, context) {
            None => {}
            Some(Opened::To(server)) => self.opened(server),
            Some(Opened::Failed(error)) => self.end_with_event(Closed::NotOpened(Arc::new(error))),
            // Only the end of the stream leads to it, which `close` handles.
            Some(Opened::Restart) => {}
        }
    }

    fn opened(&mut self, server: Box<ServerInfo>) {
        self.connection = Connection::Ready(Negotiated::new(&server, &self.config));
        self.subscriptions.open(server.capabilities.as_ref());
        self.tasks.open(&server);
        self.server = Some(Arc::from(server));
        self.add_event(Event::Connected);
    }
}

/// What a transport needs that carries each request by itself.
#[cfg(feature = "http")]
impl Session {
    /// Whether an answer to the request of this id is awaited.
    pub(crate) fn waits_for(&self, id: u64) -> bool {
        match self.requests.owner(id) {
            Some(Owner::Opening(_)) => self.connection.phase() == Phase::Connecting,
            owner => owner.is_some(),
        }
    }

    /// Whether the caller says that the server may carry out a request twice.
    pub(crate) fn is_repeatable(&self, id: u64) -> bool {
        matches!(self.requests.owner(id), Some(Owner::Caller(caller)) if caller.repeatable)
    }

    /// Sets the number of bytes to send from which on requests of the server get no answer. The transport keeps the answers that
    /// it has taken over in a queue with a limit.
    pub(crate) fn limit_answers(&mut self, limit: usize) {
        self.answer_limit = limit;
    }

    /// Keeps the ids of requests that are given up, for [`Self::take_abandoned`].
    pub(crate) fn track_abandoned(&mut self) {
        self.requests.track_abandoned();
    }

    /// Returns the ids of the requests that were given up since the last call: the transport may stop to carry them.
    pub(crate) fn take_abandoned(&mut self) -> Vec<u64> {
        self.requests.take_abandoned()
    }

    /// Writes a request of the transport's own, and returns its id. The transport reports its end by [`Self::remove_own`].
    pub(crate) fn write_own(&mut self, method: &str, params: Push<'_>, out: &mut Vec<u8>) -> u64 {
        let id = self.requests.next_id();
        let meta = Meta { protocol: self.connection.request_meta(), ..Meta::default() };
        // The parameters are written by this crate and cannot fail to serialise.
        let _ = write::request(out, id, method, params, meta);
        self.requests.insert(Owner::Transport, None)
    }

    /// Removes a request of the transport's own, which has ended.
    pub(crate) fn remove_own(&mut self, id: u64) {
        if matches!(self.requests.owner(id), Some(Owner::Transport)) {
            self.requests.remove(id);
        }
    }

    /// Handles that the server has begun a new session in place of one that it had ended: it does not wait for our answers any
    /// more, and is asked again to watch resources.
    pub(crate) fn renewed(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        let context = context!(self, now, out);
        self.server_requests.withdraw_all(context);
        context.requests.pause(false, now);
        self.subscriptions.watch_again(context);
        self.add_event(Event::Renewed);
    }
}

/// Reads the response to one of the requests that open a connection.
fn read_response<R: FromJson>(message: &[u8], id: u64) -> handshake::Outcome<R> {
    match decode::answer::<R>(message, id) {
        Ok(Answer::Result(result)) => Ok(result),
        Ok(Answer::Error(error)) => Err(RequestFault::Server(error)),
        Err(error) => Err(RequestFault::Invalid(error)),
    }
}
