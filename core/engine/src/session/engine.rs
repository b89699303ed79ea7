//! [`Session`]: the whole client side of the protocol but for the bytes.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::time::Duration;

use super::asks::Asks;
use super::caching::{Caching, Kept, LookedUp};
use super::config::{Config, RequestOptions};
use super::error::SendError;
use super::event::Event;
use super::handshake::Handshake;
use super::inbound::Batch;
use super::inflight::{InFlight, Waiting};
use super::prepared::{self, Prepared, PreparedRequest, send_error};
use super::rounds::Rounds;
use super::server::{Phase, ServerInfo, Stats};
use super::subscriptions::Subscriptions;
use super::tasks::{Tasked, Tasks};
use super::ticket::{RequestKey, Ticket};
use crate::cache::is_cacheable;
use crate::json::Json;
use crate::json::scan::{self, Member};
use crate::method::{Method, Notice, Params, Raw};
use crate::revisions::{self, Barred};
use crate::rpc::write::{self, Meta, Push};
use crate::time::Timestamp;
use crate::types::{Era, Extra, ProtocolVersion};

/// A client's side of one connection, on whole messages.
///
/// What is to be sent is appended to the `out` that a call is given, a message a line. [`stdio::Engine`](crate::stdio::Engine)
/// is a session together with the bytes of a stream, and what most embedders want.
#[derive(Debug)]
pub struct Session {
    pub(super) config: Config,
    pub(super) handshake: Handshake,
    pub(super) discover: Option<u64>,
    pub(super) initialize: Option<u64>,
    pub(super) silent_at: Option<Timestamp>,
    pub(super) connect_by: Option<Timestamp>,
    pub(super) phase: Phase,
    pub(super) server: Option<Arc<ServerInfo>>,
    pub(super) era: Option<Era>,
    /// What the modern era wants in the `_meta` of each request.
    pub(super) meta: String,
    /// What is not to be sent.
    pub(super) barred: Barred,
    /// The version that is spoken, once the connection is open.
    pub(super) version: Option<ProtocolVersion>,
    pub(super) in_flight: InFlight,
    pub(super) next_id: u64,
    pub(super) next_key: u64,
    pub(super) events: VecDeque<Event>,
    /// The rest of an array of messages.
    pub(super) batch: Option<Batch>,
    pub(super) stats: Stats,
    pub(super) asks: Asks,
    pub(super) rounds: Rounds,
    pub(super) subscriptions: Subscriptions,
    pub(super) caching: Caching,
    pub(super) tasks: Tasks,
}

impl Session {
    /// A session that has sent nothing yet.
    pub fn new(config: Config) -> Self {
        let caching = Caching::new(config.cache);
        Session {
            handshake: Handshake::new(config.negotiate),
            config,
            discover: None,
            initialize: None,
            silent_at: None,
            connect_by: None,
            phase: Phase::New,
            server: None,
            era: None,
            meta: String::new(),
            barred: Barred::default(),
            version: None,
            in_flight: InFlight::default(),
            next_id: 1,
            next_key: 1,
            events: VecDeque::new(),
            batch: None,
            stats: Stats::default(),
            asks: Asks::default(),
            rounds: Rounds::default(),
            subscriptions: Subscriptions::default(),
            caching,
            tasks: Tasks::default(),
        }
    }

    /// Begins to open the connection. Ends in [`Event::Connected`], [`Event::Restart`] or [`Event::Closed`].
    pub fn initialize(&mut self, now: Timestamp, out: &mut Vec<u8>) -> Result<(), SendError> {
        if !self.handshake.is_new() {
            return Err(if self.phase == Phase::Closed { SendError::Closed } else { SendError::AlreadyInitialized });
        }
        self.phase = Phase::Connecting;
        self.connect_by = Some(now + self.config.connect_timeout);
        let action = self.handshake.start();
        self.act(action, now, out);
        Ok(())
    }

    /// Sends a request. Its end is an [`Event::Reply`] that the ticket decodes.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, a limit is reached, the parameters are no JSON object, or the
    /// protocol version or the server does not have the method ([`revisions`]).
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<M>, SendError> {
        self.check_allowed(M::NAME, const { revisions::bit(M::NAME) })?;
        let cache = const { Kept::of(M::NAME) };
        let push: Push<'_> = &|out: &mut Vec<u8>| prepared::push(out, params);
        self.send(Cow::Borrowed(M::NAME), cache, push, options, now, out).map(Ticket::new)
    }

    /// As [`Session::request`], with parameters that are text already.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<M>, SendError> {
        self.send_prepared(params.request(), options, now, out).map(Ticket::new)
    }

    /// As [`Session::request_prepared`], whatever the method. [`Prepared::ticket`] makes a ticket of the key.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, SendError> {
        let copy = |out: &mut Vec<u8>| {
            out.extend_from_slice(request.text());
            Ok(())
        };
        self.check_allowed(request.method, request.bit)?;
        self.send(Cow::Borrowed(request.method), request.cache, &copy, options, now, out)
    }

    /// Sends a request of any method, whether the protocol version and the server have it or not. A `_meta` among the
    /// parameters is merged with what the era wants there.
    ///
    /// # Errors
    /// As [`Session::request`], but for those of [`revisions`].
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<Raw>, SendError> {
        let cache = Kept::of(method);
        let method = Cow::Owned(method.to_string());
        let Some(params) = params else {
            let none: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, &());
            return self.send(method, cache, none, options, now, out).map(Ticket::new);
        };
        if !params.is_object() {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let Some(meta) = params.member::<Json>("_meta") else {
            let push: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, params);
            return self.send(method, cache, push, options, now, out).map(Ticket::new);
        };
        let meta = Some(match &options.meta {
            Some(first) => merged(first, &meta),
            None => meta,
        });
        let options = RequestOptions { meta, ..options.clone() };
        let params = without_meta(params);
        let push: Push<'_> = &|out: &mut Vec<u8>| write::push_object(out, &params);
        self.send(method, cache, push, &options, now, out).map(Ticket::new)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn notify<N: Notice>(&mut self, params: &N::Params, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_allowed(N::NAME, const { revisions::bit(N::NAME) })?;
        self.check_open(out)?;
        write::notification(out, N::NAME, &|out: &mut Vec<u8>| write::push_object(out, params))
            .map_err(|error| send_error(N::NAME, error))
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Session::request_raw`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_open(out)?;
        let push = |out: &mut Vec<u8>| match params {
            Some(params) => write::push_object(out, params),
            None => write::push_object(out, &()),
        };
        write::notification(out, method, &push).map_err(|error| send_error(method, error))
    }

    /// The next event, in the order in which things happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether the answer to a request of this method may be one that is kept: then what the server has told by now should
    /// have been taken in first.
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        self.caching.keeps() && const { is_cacheable(M::NAME) }
    }

    /// Whether there is an event to poll already, without anything more being taken in.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// When [`Session::handle_timeout`] is to be called at the latest; calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        let (rounds, tasks) = (self.rounds.poll_timeout(), self.tasks.poll_timeout());
        let subscriptions = self.subscriptions.poll_timeout();
        [self.connect_by, self.silent_at, self.in_flight.poll_timeout(), rounds, subscriptions, tasks]
            .into_iter()
            .flatten()
            .min()
    }

    /// How far the session has come.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// To whom the connection is open; stays known after its end, unless it was taken.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.server.as_deref()
    }

    /// Takes out what [`Session::server`] shows, for who keeps it elsewhere.
    pub fn take_server(&mut self) -> Option<Arc<ServerInfo>> {
        self.server.take()
    }

    /// How many requests wait for an answer, those counted whose server waits for input.
    pub fn in_flight(&self) -> usize {
        self.in_flight.callers() + self.tasks.len() + self.rounds.len()
    }

    /// Whether a request is one of those.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.in_flight.id_of(key).is_some() || self.rounds.has(key) || self.tasks.is_waiting(key)
    }

    /// What was left aside so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// A session that opens the connection to a server that is started once more, after [`Event::Restart`], when `spent`
    /// has passed since the opening began. It takes the configuration over.
    pub(crate) fn restarted(&mut self, spent: Duration) -> Session {
        Session::new(mem::take(&mut self.config).after_restart(spent))
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn send(
        &mut self,
        method: Cow<'static, str>,
        cache: Kept,
        params: Push<'_>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, SendError> {
        self.check_open(out)?;
        if self.in_flight() >= self.config.max_in_flight {
            return Err(SendError::TooManyInFlight { limit: self.config.max_in_flight });
        }
        if options.meta.as_ref().is_some_and(|meta| !meta.is_object()) {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let pending = match self.kept(cache, &method, params, options, now)? {
            LookedUp::Answered(key) => return Ok(key),
            LookedUp::ToSend(pending) => pending,
        };
        let (tasks, param) = self.prepare_task(&method, options);
        let id = self.next_id;
        let meta = Meta {
            protocol: if tasks == Tasked::No { &self.meta } else { self.task_meta() },
            progress_token: options.progress.then_some(id),
            caller: options.meta.as_ref(),
        };
        let with_param = |out: &mut Vec<u8>| {
            params.push(out)?;
            // The object that is there has members: the tool's name at least.
            if let Some(param) = &param
                && out.pop() == Some(b'}')
            {
                out.extend_from_slice(param);
                out.push(b'}');
            }
            Ok(())
        };
        let params = if param.is_some() { &with_param } else { params };
        let params = write::request(out, id, &method, params, meta).map_err(|error| send_error(&method, error))?;
        let kept = if self.has_rounds(&method) { self.keep(&out[params], options.meta.as_ref()) } else { None };
        self.next_id += 1;
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        // A request that may be silent for longer than the total may take that long.
        let total = options.total_timeout.unwrap_or(self.config.total_timeout.max(timeout));
        let mut waiting = Waiting::new(key, method, options.progress, kept, timeout, total, now);
        waiting.tasks = tasks;
        waiting.cached_as = pending;
        self.in_flight.insert(id, waiting);
        Ok(key)
    }

    pub(super) fn check_open(&self, out: &[u8]) -> Result<(), SendError> {
        match self.phase {
            Phase::Ready if out.len() > self.config.max_transmit => {
                Err(SendError::TransmitFull { limit: self.config.max_transmit })
            }
            Phase::Ready => Ok(()),
            Phase::New | Phase::Connecting => Err(SendError::NotInitialized),
            Phase::Closed => Err(SendError::Closed),
        }
    }

    /// Whether a method may be sent, by its bit in the table of revisions.
    pub(super) fn check_allowed(&self, method: &'static str, bit: u32) -> Result<(), SendError> {
        if self.barred.all & bit == 0 { Ok(()) } else { Err(self.why_barred(method, bit)) }
    }

    #[cold]
    #[inline(never)]
    fn why_barred(&self, method: &'static str, bit: u32) -> SendError {
        let entry = &revisions::TABLE[bit.trailing_zeros() as usize];
        match self.version {
            Some(version) if !entry.is_in(version) => {
                SendError::NotInRevision { method, version, instead: entry.instead }
            }
            _ => SendError::NotOffered { method, needs: entry.needs },
        }
    }
}

fn without_meta(params: &Json) -> Json {
    let mut members = scan::members(params.get().as_bytes());
    object(&mut || members.find(|member| !member.is("_meta")))
}

/// Two objects in one; of members of the same name, that of the first counts.
pub(super) fn merged(first: &Json, second: &Json) -> Json {
    let of_first = || scan::members(first.get().as_bytes());
    let (mut firsts, mut seconds) = (of_first(), scan::members(second.get().as_bytes()));
    object(&mut || match firsts.next() {
        Some(member) => Some(member),
        None => seconds.find(|member| of_first().all(|other| other.key() != member.key())),
    })
}

/// An object of the members that `next` gives. (Any other way to hand in an iterator brings all its methods along.)
pub(super) fn object<'m>(next: &mut dyn FnMut() -> Option<Member<'m>>) -> Json {
    let mut object = Extra::default();
    while let Some(member) = next() {
        let value = core::str::from_utf8(member.value).ok().and_then(|text| Json::parse(text).ok());
        object.push(member.key(), value.unwrap_or_default());
    }
    object.to_json()
}
