//! [`Session`]: the whole client side of the protocol but for the bytes.

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::config::{Config, RequestOptions};
use super::error::{CallError, Closed, ConnectError, SendError};
use super::event::{Event, Message, Notification};
use super::handshake::{Action, Handshake, Outcome, Refusal};
use super::inflight::{InFlight, Waiting};
use super::ticket::{self, Reply, RequestKey, Ticket};
use crate::json::{Json, scan};
use crate::method::{Discover, Initialize, Method, Notice, Params, Raw};
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{Peek, peek};
use crate::rpc::write::{self, Meta, ParamsError};
use crate::rpc::{PeerError, RpcError, WireId};
use crate::text::excerpt;
use crate::time::Timestamp;
use crate::types::{
    DiscoverResult, Era, Implementation, InitializeParams, InitializeResult, LogMessage, Progress, ProtocolVersion,
    ServerCapabilities,
};

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Nothing has been sent.
    New,
    /// The connection is being opened.
    Connecting,
    /// Requests can be sent.
    Ready,
    /// It has ended.
    Closed,
}

/// To whom a connection is open.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInfo {
    /// The era that is spoken: worth remembering for the next time.
    pub era: Era,
    /// The version that is spoken.
    pub protocol_version: ProtocolVersion,
    /// Who the server says it is.
    pub implementation: Option<Implementation>,
    /// What it says it can do. `None` if it said nothing about it, which is not the same as nothing.
    pub capabilities: Option<ServerCapabilities>,
    /// How to use it, in words for a language model.
    pub instructions: Option<String>,
}

impl ServerInfo {
    /// The server's name; empty if it gave none.
    pub fn name(&self) -> &str {
        self.implementation.as_ref().map_or("", |implementation| &implementation.name)
    }
}

/// What was left aside, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lines that are no messages, and messages that cannot be read.
    pub noise: u64,
    /// Answers to requests that had ended: late ones and repeated ones.
    pub late: u64,
    /// Answers to requests that were never sent.
    pub foreign: u64,
    /// Requests of the server's that were refused.
    pub refused: u64,
}

/// A client's side of one connection, on whole messages.
///
/// What is to be sent is appended to the `out` that a call is given, a message a line. [`stdio::Engine`](crate::stdio::Engine)
/// is a session together with the bytes of a stream, and what most embedders want.
#[derive(Debug)]
pub struct Session {
    config: Config,
    handshake: Handshake,
    discover: Option<u64>,
    initialize: Option<u64>,
    silent_at: Option<Timestamp>,
    connect_by: Option<Timestamp>,
    phase: Phase,
    server: Option<ServerInfo>,
    /// What the modern era wants in the `_meta` of each request.
    meta: String,
    in_flight: InFlight,
    next_id: u64,
    next_key: u64,
    events: VecDeque<Event>,
    stats: Stats,
}

impl Session {
    /// A session that has sent nothing yet.
    pub fn new(config: Config) -> Self {
        Session {
            handshake: Handshake::new(config.negotiate),
            config,
            discover: None,
            initialize: None,
            silent_at: None,
            connect_by: None,
            phase: Phase::New,
            server: None,
            meta: String::new(),
            in_flight: InFlight::default(),
            next_id: 1,
            next_key: 1,
            events: VecDeque::new(),
            stats: Stats::default(),
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
    /// If nothing was sent: the connection is not open, a limit is reached, or the parameters are no JSON object.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<M>, SendError> {
        self.send(Cow::Borrowed(M::NAME), params, options, now, out).map(Ticket::new)
    }

    /// Sends a request of any method. A `_meta` among the parameters is merged with what the era wants there.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<Ticket<Raw>, SendError> {
        let method = Cow::Owned(method.to_string());
        let Some(params) = params else { return self.send(method, &(), options, now, out).map(Ticket::new) };
        if !params.is_object() {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        match params.member::<Json>("_meta") {
            Some(meta) if options.meta.is_none() => {
                let options = RequestOptions { meta: Some(meta), ..options.clone() };
                let params = without_meta(params);
                self.send(method, &params, &options, now, out).map(Ticket::new)
            }
            _ => self.send(method, params, options, now, out).map(Ticket::new),
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn notify<N: Notice>(&mut self, params: &N::Params, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_open(out)?;
        write::notification(out, N::NAME, params).map_err(|error| send_error(N::NAME, error))
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Session::request`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>, out: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_open(out)?;
        write::notification(out, method, &params).map_err(|error| send_error(method, error))
    }

    /// Gives up a request: its reply says so, and the server is told. `false` if it had ended already.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>, out: &mut Vec<u8>) -> bool {
        let Some(id) = self.in_flight.id_of(key) else { return false };
        let Some(waiting) = self.in_flight.remove(id) else { return false };
        self.tell_cancelled(id, reason.unwrap_or("the caller gave up"), out);
        self.events.push_back(Event::Reply(Reply::failed(key, CallError::Cancelled { method: waiting.method })));
        true
    }

    /// Takes in a message.
    pub fn receive(&mut self, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        if self.phase == Phase::Closed {
            return;
        }
        match peek(message.bytes()) {
            Peek::Response { id } => {
                let id = id.ours();
                self.response(id, message, now, out);
            }
            Peek::Batch => self.batch(message.bytes(), now, out),
            Peek::Request { id, method } => self.ask(id, &method, out),
            Peek::Notification { method } => self.notification(&method, message.bytes(), now),
            Peek::OrphanError => self.orphan(message.bytes(), now, out),
            Peek::Noise => self.noise(message.bytes()),
        }
    }

    /// Takes in that a message is longer than [`Config::max_message`], by how it begins: the request that it answers fails.
    pub fn receive_overlong(&mut self, head: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        if self.phase == Phase::Closed {
            return;
        }
        let known = match peek(head) {
            Peek::Response { id } => id.ours(),
            _ => None,
        };
        if !known.is_some_and(|id| self.fail_overlong(id, head, now, out)) {
            self.noise(head);
        }
    }

    /// Takes in how such a message ended, in case only its end names the request.
    pub fn receive_overlong_end(&mut self, tail: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        // As if it were a short message: what the tail lacks is its beginning.
        let mut whole = Vec::from(&b"{\"result\":0"[..]);
        let cut = memchr::memrchr(b',', tail).and_then(|last| memchr::memrchr(b',', &tail[..last]).or(Some(last)));
        for from in [cut, memchr::memrchr(b',', tail)].into_iter().flatten() {
            whole.truncate(11);
            whole.extend_from_slice(&tail[from..]);
            if let Peek::Response { id } = peek(&whole)
                && id.ours().is_some_and(|id| self.fail_overlong(id, tail, now, out))
            {
                return;
            }
        }
    }

    /// Lets time pass: what was due by `now` happens.
    pub fn handle_timeout(&mut self, now: Timestamp, out: &mut Vec<u8>) {
        if self.connect_by.is_some_and(|at| at <= now) {
            let after = self.config.connect_timeout;
            let action = self.handshake.fail(ConnectError::Timeout { after });
            self.act(action, now, out);
        } else if self.silent_at.is_some_and(|at| at <= now) {
            self.silent_at = None;
            let action = self.handshake.silence();
            self.act(action, now, out);
        }
        while let Some((id, key, error)) = self.in_flight.expire(now) {
            self.tell_cancelled(id, "timed out", out);
            self.events.push_back(Event::Reply(Reply::failed(key, error)));
        }
    }

    /// Takes in that the connection has ended: all requests end with it.
    pub fn close(&mut self, how: Closed) {
        if self.phase == Phase::Closed {
            return;
        }
        let action = match how {
            Closed::ByServer if self.phase == Phase::Connecting => self.handshake.ended(),
            Closed::ByClient if self.phase == Phase::Connecting => self.handshake.fail(ConnectError::Cancelled),
            _ => Action::Nothing,
        };
        match action {
            Action::Restart => {
                self.end(Closed::ByServer);
                // It replaces the event that says the end.
                self.events.pop_back();
                self.events.push_back(Event::Restart);
            }
            Action::Fail(error) => self.end(Closed::NotOpened(error)),
            _ => self.end(how),
        }
    }

    /// The next event, in the order in which things happened.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Session::handle_timeout`] is to be called at the latest; calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        [self.connect_by, self.silent_at, self.in_flight.poll_timeout()].into_iter().flatten().min()
    }

    /// How far the session has come.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// To whom the connection is open; stays known after its end.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.server.as_ref()
    }

    /// How many requests wait for an answer.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Whether a request is one of those.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.in_flight.id_of(key).is_some()
    }

    /// What was left aside so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    fn send<P: Serialize + ?Sized>(
        &mut self,
        method: Cow<'static, str>,
        params: &P,
        options: &RequestOptions,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) -> Result<RequestKey, SendError> {
        self.check_open(out)?;
        if self.in_flight.len() >= self.config.max_in_flight {
            return Err(SendError::TooManyInFlight { limit: self.config.max_in_flight });
        }
        if options.meta.as_ref().is_some_and(|meta| !meta.is_object()) {
            return Err(SendError::NotAnObject { method: method.into_owned() });
        }
        let id = self.next_id;
        let meta = Meta {
            protocol: &self.meta,
            progress_token: options.progress.then_some(id),
            caller: options.meta.as_ref(),
        };
        write::request(out, id, &method, params, meta).map_err(|error| send_error(&method, error))?;
        self.next_id += 1;
        let key = RequestKey(self.next_key);
        self.next_key += 1;
        let timeout = options.timeout.unwrap_or(self.config.request_timeout);
        // A request that may be silent for longer than the total may take that long.
        let total = options.total_timeout.unwrap_or(self.config.total_timeout.max(timeout));
        self.in_flight.insert(id, Waiting::new(key, method, options.progress, timeout, total, now));
        Ok(key)
    }

    fn check_open(&self, out: &[u8]) -> Result<(), SendError> {
        match self.phase {
            Phase::Ready if out.len() > self.config.max_transmit => {
                Err(SendError::TransmitFull { limit: self.config.max_transmit })
            }
            Phase::Ready => Ok(()),
            Phase::New | Phase::Connecting => Err(SendError::NotInitialized),
            Phase::Closed => Err(SendError::Closed),
        }
    }

    fn response(&mut self, id: Option<u64>, message: impl Message, now: Timestamp, out: &mut Vec<u8>) {
        match id {
            Some(id) if self.discover == Some(id) => {
                self.discover = None;
                let outcome = opened::<DiscoverResult>(message.bytes(), id);
                let action = self.handshake.discovered(outcome);
                self.act(action, now, out);
            }
            Some(id) if self.initialize == Some(id) => {
                self.initialize = None;
                let outcome = opened::<InitializeResult>(message.bytes(), id);
                let action = self.handshake.initialized(outcome);
                self.act(action, now, out);
            }
            Some(id) => match self.in_flight.remove(id) {
                Some(waiting) => {
                    let outcome = ticket::Outcome::Answered { message: message.into_bytes(), id };
                    self.events.push_back(Event::Reply(Reply { key: waiting.key, method: waiting.method, outcome }));
                }
                None if id < self.next_id => self.stats.late += 1,
                None => self.stats.foreign += 1,
            },
            None => self.stats.foreign += 1,
        }
    }

    fn batch(&mut self, bytes: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let mut messages = 0;
        for element in scan::elements(bytes) {
            if element.first() == Some(&b'{') {
                messages += 1;
                self.receive(element, now, out);
            }
        }
        if messages == 0 {
            self.noise(bytes);
        }
    }

    fn ask(&mut self, id: WireId<'_>, method: &str, out: &mut Vec<u8>) {
        let modern = self.server.as_ref().is_some_and(|server| server.era == Era::Modern);
        // A server that asks and does not read must not make us hoard answers. A modern server may not ask at all, and
        // may not be answered (basic/transports/stdio, "Sending Messages").
        let answer = id.echo().filter(|_| !modern && out.len() <= self.config.max_transmit);
        match (method, answer) {
            ("ping", Some(id)) => write::empty_result(out, id),
            (_, answer) => {
                if let Some(id) = answer {
                    write::error(out, id, RpcError::METHOD_NOT_FOUND, "Method not found");
                }
                self.stats.refused += 1;
                self.events.push_back(Event::Refused { method: excerpt(method.as_bytes()) });
            }
        }
    }

    fn notification(&mut self, method: &str, bytes: &[u8], now: Timestamp) {
        let read = match method {
            "notifications/progress" => decode::params::<Progress>(bytes).map(|progress| {
                let id = progress.progress_token.as_ref().and_then(|token| WireId(token.get().as_bytes()).ours());
                let key = id.and_then(|id| self.in_flight.progress(id, now));
                self.stats.late += u64::from(key.is_none());
                key.map(|key| Notification::Progress { key, progress })
            }),
            "notifications/message" => decode::params::<LogMessage>(bytes).map(|log| Some(Notification::Log(log))),
            "notifications/tools/list_changed" => Ok(Some(Notification::ToolsChanged)),
            "notifications/prompts/list_changed" => Ok(Some(Notification::PromptsChanged)),
            "notifications/resources/list_changed" => Ok(Some(Notification::ResourcesChanged)),
            _ => decode::params::<Option<Json>>(bytes)
                .map(|params| Some(Notification::Other { method: method.to_string(), params })),
        };
        match read {
            Ok(Some(notification)) => self.events.push_back(Event::Notification(notification)),
            Ok(None) => {}
            Err(_) => self.noise(bytes),
        }
    }

    /// An error that names no request. While the probe is all that was sent, it is the answer to that.
    fn orphan(&mut self, bytes: &[u8], now: Timestamp, out: &mut Vec<u8>) {
        let Some(error) = decode::orphan_error(bytes) else { return self.noise(bytes) };
        if self.handshake.is_probing() {
            self.discover = None;
            let action = self.handshake.discovered(Err(Refusal::Error(error)));
            self.act(action, now, out);
        } else {
            self.events.push_back(Event::OrphanError(error));
        }
    }

    fn noise(&mut self, bytes: &[u8]) {
        self.stats.noise += 1;
        self.events.push_back(Event::Noise { excerpt: excerpt(bytes) });
    }

    fn fail_overlong(&mut self, id: u64, seen: &[u8], now: Timestamp, out: &mut Vec<u8>) -> bool {
        let error = PeerError::too_long(self.config.max_message, seen);
        if self.discover == Some(id) {
            self.discover = None;
            let action = self.handshake.discovered(Err(Refusal::Invalid(error)));
            self.act(action, now, out);
        } else if self.initialize == Some(id) {
            self.initialize = None;
            let action = self.handshake.initialized(Err(Refusal::Invalid(error)));
            self.act(action, now, out);
        } else if let Some(waiting) = self.in_flight.remove(id) {
            let error = CallError::Invalid { method: waiting.method, error };
            self.events.push_back(Event::Reply(Reply::failed(waiting.key, error)));
        } else {
            return false;
        }
        true
    }

    fn tell_cancelled(&mut self, id: u64, reason: &str, out: &mut Vec<u8>) {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancelled<'a> {
            request_id: u64,
            reason: &'a str,
        }
        if out.len() <= self.config.max_transmit {
            // These parameters cannot fail to serialise.
            let _ = write::notification(out, "notifications/cancelled", &Cancelled { request_id: id, reason });
        }
    }

    /// Does what the handshake says.
    fn act(&mut self, action: Action, now: Timestamp, out: &mut Vec<u8>) {
        if !matches!(action, Action::Nothing) {
            self.silent_at = None;
        }
        match action {
            Action::Nothing => {}
            Action::SendDiscover(version) => {
                self.meta = modern_meta(&self.config, version);
                self.silent_at = self.handshake.is_probing().then(|| now + self.config.probe_timeout);
                self.discover = Some(self.open_with(Discover::NAME, &(), out));
            }
            Action::SendInitialize(version) => {
                self.meta.clear();
                let params = InitializeParams {
                    protocol_version: version.as_str().into(),
                    capabilities: self.config.capabilities.clone(),
                    client_info: self.config.client_info.clone(),
                    ..InitializeParams::default()
                };
                self.initialize = Some(self.open_with(Initialize::NAME, &params, out));
            }
            Action::OpenModern(version, result) => {
                self.meta = modern_meta(&self.config, version);
                let implementation = result.implementation();
                let DiscoverResult { capabilities, instructions, .. } = result;
                self.open(ServerInfo {
                    era: Era::Modern,
                    protocol_version: version,
                    implementation,
                    capabilities,
                    instructions,
                });
            }
            Action::OpenLegacy(version, result) => {
                self.meta.clear();
                // It has no parameters that could fail to serialise.
                let _ = write::notification(out, "notifications/initialized", &());
                let InitializeResult { server_info: implementation, capabilities, instructions, .. } = result;
                self.open(ServerInfo {
                    era: Era::Legacy,
                    protocol_version: version,
                    implementation,
                    capabilities,
                    instructions,
                });
            }
            Action::Fail(error) => self.end(Closed::NotOpened(error)),
            Action::Restart => {}
        }
    }

    fn open_with(&mut self, method: &str, params: &impl Serialize, out: &mut Vec<u8>) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        // What it is made of has no part that could fail to serialise.
        let _ = write::request(out, id, method, params, Meta { protocol: &self.meta, ..Meta::default() });
        id
    }

    fn open(&mut self, server: ServerInfo) {
        self.phase = Phase::Ready;
        self.connect_by = None;
        self.silent_at = None;
        self.server = Some(server);
        self.events.push_back(Event::Connected);
    }

    fn end(&mut self, how: Closed) {
        self.phase = Phase::Closed;
        self.connect_by = None;
        self.silent_at = None;
        while let Some(waiting) = self.in_flight.pop() {
            let error = CallError::Closed { method: waiting.method, reason: how.clone() };
            self.events.push_back(Event::Reply(Reply::failed(waiting.key, error)));
        }
        self.events.push_back(Event::Closed(how));
    }
}

/// Reads the answer to one of the two requests that open a connection.
fn opened<'de, R: serde::Deserialize<'de>>(bytes: &'de [u8], id: u64) -> Outcome<R> {
    match decode::answer::<R>(bytes, id) {
        Ok(Answer::Result(result)) => Ok(result),
        Ok(Answer::Error(error)) => Err(Refusal::Error(error)),
        Err(error) => Err(Refusal::Invalid(error)),
    }
}

/// The members of `_meta` that the modern era wants in each request (2026-07-28, basic/index, "Per-request protocol
/// fields"), as JSON text without braces.
fn modern_meta(config: &Config, version: ProtocolVersion) -> String {
    let json = |value: Result<Json, crate::JsonError>| value.unwrap_or_default();
    let mut meta = alloc::format!(
        r#""io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}"#,
        json(Json::from_value(&config.client_info)),
        json(Json::from_value(&config.capabilities)),
    );
    if let Some(level) = &config.log_level {
        meta.push_str(r#","io.modelcontextprotocol/logLevel":"#);
        meta.push_str(json(Json::from_value(level)).get());
    }
    meta
}

fn without_meta(params: &Json) -> Json {
    let mut rest = crate::types::Extra::default();
    for member in scan::members(params.get().as_bytes()) {
        if !member.is("_meta") {
            let value = core::str::from_utf8(member.value).ok().and_then(|text| Json::parse(text).ok());
            rest.push(member.key(), value.unwrap_or_default());
        }
    }
    rest.to_json()
}

fn send_error(method: &str, error: ParamsError) -> SendError {
    match error {
        ParamsError::Serialize(reason) => SendError::Params { method: method.into(), reason },
        ParamsError::NotAnObject => SendError::NotAnObject { method: method.into() },
    }
}
