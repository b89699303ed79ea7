//! From messages to exchanges, with the headers that they need (2026-07-28, basic/transports/streamable-http, "Request Metadata";
//! 2025-11-25, basic/transports, "Session Management" and "Protocol Version Header").

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use memchr::{memchr, memmem};

use super::engine::Engine;
use super::exchange::{Command, Exchange, ExchangeId, Verb};
use super::headers::encode_value;
use super::open::{Asked, Cursor, Open, Purpose};
use crate::json::scan::{member, text};
use crate::rpc::WireId;
use crate::rpc::peek::{Peek, peek};
use crate::types::ProtocolVersion;

pub(super) type Headers = Vec<(Cow<'static, str>, String)>;

pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// Above this size a message is not kept to be sent again: it would double what a large call costs. 1 MiB: arguments are rarely
/// beyond some KiB.
const KEPT: usize = 1 << 20;

impl Engine {
    /// Makes an exchange of the next message, if there is one and it may be sent now.
    pub(super) fn send_next(&mut self) -> bool {
        if self.is_shut || self.legacy.is_held() || self.way.is_held() {
            return false;
        }
        if let Some(asked) = self.again.pop_front() {
            self.post(asked);
            return true;
        }
        let pending = self.out.pending();
        let Some(end) = memchr(b'\n', pending) else {
            self.never_sent.clear();
            return false;
        };
        let message = pending[..end].to_vec();
        self.out.sent(end + 1);
        self.send(message);
        true
    }

    fn send(&mut self, message: Vec<u8>) {
        match peek(&message) {
            Peek::Request { id, method } => {
                let Some(id) = id.number() else { return };
                let method = method.into_owned().into_boxed_str();
                let repeatable = self.session.is_repeatable(id);
                let mirrored = Vec::new();
                let cursor = Cursor::default();
                let message = Some(message);
                self.post(Asked { id, method, message, mirrored, repeatable, repeated: false, cursor });
            }
            Peek::Notification { method } => {
                let method = method.into_owned();
                if method == "notifications/cancelled" && self.cancelled(&message) {
                    return;
                }
                if method == "notifications/initialized" {
                    self.legacy.hold(self.now + self.session.config().probe_timeout);
                }
                self.post_message(Some(method), message);
            }
            _ => self.post_message(None, message),
        }
    }

    /// The session gives a request up. `true` if the server need not be told in words: it was not told of the request
    /// either, or the end of the exchange says it.
    fn cancelled(&mut self, message: &[u8]) -> bool {
        let id = member(message, "params").and_then(|params| member(params, "requestId"));
        let Some(id) = id.and_then(|id| WireId(id).number()) else { return false };
        self.give_up(id);
        self.never_sent.remove(&id) || self.is_modern()
    }

    /// Sends a request, for the first time or again. Nothing happens if nobody waits for its answer any more.
    pub(super) fn post(&mut self, mut asked: Asked) {
        if !self.session.waits_for(asked.id) {
            self.never_sent.insert(asked.id);
            return;
        }
        if self.renews_first() {
            self.again.push_front(asked);
            return;
        }
        let Some(message) = asked.message.take() else { return };
        if &*asked.method == "initialize" {
            match self.begin_opening(asked, &message) {
                Some(same) => asked = same,
                None => return,
            }
        }
        let call = self.is_modern() && &*asked.method == "tools/call";
        if call {
            asked.mirrored = self.mirrored(&message);
        }
        asked.repeatable = asked.repeatable || self.is_repeatable(&asked.method, &message);
        let mut headers = self.message_headers(&asked.method, &message);
        headers.extend(asked.mirrored.iter().map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
        let is_opening = &*asked.method == "initialize";
        let kept = is_opening || call || self.legacy.session.is_some();
        asked.message = (kept && message.len() <= KEPT).then(|| message.clone());
        let is_long = &*asked.method == "subscriptions/listen";
        let purpose = if self.way.is_sse() { Purpose::Delivery(asked) } else { Purpose::Request(asked) };
        self.start(purpose, Verb::Post, headers, message, is_long);
    }

    pub(super) fn post_message(&mut self, method: Option<String>, message: Vec<u8>) {
        let headers = self.message_headers(method.as_deref().unwrap_or_default(), &message);
        self.start(Purpose::Message { method }, Verb::Post, headers, message, false);
    }

    pub(super) fn start(
        &mut self,
        purpose: Purpose,
        verb: Verb,
        headers: Headers,
        body: Vec<u8>,
        is_long: bool,
    ) -> ExchangeId {
        let id = ExchangeId(self.next_exchange);
        self.next_exchange += 1;
        let named = headers.iter().any(|(name, _)| name == SESSION);
        let is_request = !matches!(purpose, Purpose::Message { .. } | Purpose::Delete);
        let open = Open::new(purpose, named.then_some(self.legacy.generation), body.len());
        if let Some(request) = open.request() {
            self.serving.insert(request, id);
        }
        self.unsent += open.unsent;
        self.open.insert(id, open);
        let uri = match verb {
            Verb::Post => self.way.endpoint().unwrap_or(&self.settings.uri),
            Verb::Get | Verb::Delete => &self.settings.uri,
        };
        let uri = uri.to_string();
        self.commands.push_back(Command::Start(Exchange { id, verb, uri, headers, body, is_long, is_request }));
        id
    }

    /// Nobody waits for a request any more: its exchange is not needed, nor what there is to take it up again.
    pub(super) fn give_up(&mut self, request: u64) {
        self.legacy.forget(request);
        self.again.retain(|asked| asked.id != request);
        if let Some(id) = self.serving.remove(&request) {
            self.abort(id);
        }
    }

    pub(super) fn abort(&mut self, id: ExchangeId) {
        let Some(open) = self.remove(id) else { return };
        if open.is_over {
            return;
        }
        // One that nobody has heard of yet need not be started.
        let started = |command: &Command| matches!(command, Command::Start(exchange) if exchange.id == id);
        match self.commands.iter().position(started) {
            Some(at) => {
                self.never_sent.extend(open.request());
                self.commands.remove(at);
            }
            None => self.commands.push_back(Command::Abort(id)),
        }
    }

    pub(super) fn remove(&mut self, id: ExchangeId) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.unsent -= open.unsent;
        if let Purpose::Relist(relist) = &open.purpose {
            self.session.remove_own(relist.id());
        }
        if open.is_leaving {
            self.legacy.left(id);
        }
        if let Some(request) = open.request().filter(|request| self.serving.get(request) == Some(&id)) {
            self.serving.remove(&request);
        }
        Some(open)
    }

    /// The headers of a message that is posted.
    pub(super) fn message_headers(&self, method: &str, message: &[u8]) -> Headers {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.insert(0, ("Content-Type".into(), "application/json".into()));
        let modern = if method == "server/discover" { version_in(message) } else { None };
        if let Some(version) = modern.or_else(|| self.is_modern().then(|| self.version()).flatten()) {
            headers.push((VERSION.into(), version.into()));
            headers.push(("Mcp-Method".into(), encode_value(method).into_owned()));
            if let Some(name) = name_of(method, message) {
                headers.push(("Mcp-Name".into(), encode_value(&name).into_owned()));
            }
        } else if !matches!(method, "initialize" | "server/discover") {
            self.push_session(&mut headers);
        }
        headers
    }

    /// The headers of a request that is not a message.
    pub(super) fn plain_headers(&self, last_id: &str) -> Headers {
        let mut headers = self.headers(EVENT_STREAM);
        self.push_session(&mut headers);
        if !last_id.is_empty() {
            headers.push(("Last-Event-ID".into(), last_id.into()));
        }
        headers
    }

    fn headers(&self, accept: &'static str) -> Headers {
        let mut headers = Vec::with_capacity(8 + self.settings.headers.len());
        headers.push((Cow::Borrowed("Accept"), accept.into()));
        headers.extend(self.settings.headers.iter().map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
        headers
    }

    /// What a legacy session wants in each request. The header with the version came in 2025-06-18; without it servers take
    /// the version for 2025-03-26.
    fn push_session(&self, headers: &mut Headers) {
        if let Some(version) = self.version().filter(|version| *version >= ProtocolVersion::V2025_06_18.as_str()) {
            headers.push((VERSION.into(), version.into()));
        }
        if let Some(session) = &self.legacy.session {
            headers.push((SESSION.into(), session.clone()));
        }
    }

    pub(super) fn version(&self) -> Option<&'static str> {
        self.spoken.map(ProtocolVersion::as_str)
    }

    /// The headers that repeat arguments of a call.
    pub(super) fn mirrored(&self, message: &[u8]) -> Vec<(String, String)> {
        if self.tools.is_empty() {
            return Vec::new();
        }
        let Some(params) = member(message, "params") else { return Vec::new() };
        match member(params, "name").and_then(text) {
            Some(tool) => self.tools.headers(&tool, member(params, "arguments").unwrap_or_default()),
            None => Vec::new(),
        }
    }

    /// Whether a request may be carried out twice: it only asks, or calls a tool of which the server says so.
    fn is_repeatable(&self, method: &str, message: &[u8]) -> bool {
        match method {
            "tools/call" if self.tools.is_empty() => false,
            "tools/call" => {
                let tool = member(message, "params").and_then(|params| member(params, "name").and_then(text));
                tool.is_some_and(|tool| self.tools.is_idempotent(&tool))
            }
            "ping" | "prompts/get" | "resources/read" | "completion/complete" => true,
            method => method.ends_with("/list"),
        }
    }
}

pub(super) const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";

/// What `Mcp-Name` repeats ("Standard Request Headers"; of tasks, the extension's "Streamable HTTP" section).
fn name_of(method: &str, message: &[u8]) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    member(member(message, "params")?, key).and_then(text)
}

/// The version in the `_meta` of `server/discover`, which may not be the one that is spoken in the end.
fn version_in(message: &[u8]) -> Option<&'static str> {
    const KEY: &[u8] = b"\"io.modelcontextprotocol/protocolVersion\":\"";
    let value = &message[memmem::find(message, KEY)? + KEY.len()..];
    let name = core::str::from_utf8(&value[..memchr(b'"', value)?]).ok()?;
    name.parse().ok().map(ProtocolVersion::as_str)
}
