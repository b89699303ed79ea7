//! Events and errors in words for a [`Trace`](super::trace::Trace).
//!
//! The words are written here, not taken from the names of types: traces of two builds can be compared although types were
//! renamed in between. What depends on wording, an error's own text, has a line of its own that begins with `says`.

use core::fmt::{Display, Write};
use core::time::Duration;

use mcpwire_core::http::{Exchange, FailureKind, HttpError};
use mcpwire_core::{
    CallError, CloseReason, ConnectError, Deadline, Era, Event, InputError, ItemList, Notification, PeerError,
    PeerErrorKind, Phase, Reply, RequestKey, RpcError, SendError, ServerInfo, ServerRequestId, Stats, SubscriptionEnd,
    SubscriptionEvent, SubscriptionKey, TaskError,
};
use serde::Serialize;

use super::trace::{Shown, Trace};

/// Numbers for the keys that an engine gives out, in the order in which they were first seen: what the keys hold is the
/// engine's own business.
#[derive(Default)]
pub(crate) struct Names {
    requests: Vec<RequestKey>,
    asks: Vec<ServerRequestId>,
    subscriptions: Vec<SubscriptionKey>,
}

fn number<K: PartialEq>(known: &mut Vec<K>, key: K) -> usize {
    known.iter().rposition(|other| *other == key).unwrap_or_else(|| {
        known.push(key);
        known.len() - 1
    })
}

impl Names {
    /// The number of a request of the caller's.
    pub(crate) fn request(&mut self, key: RequestKey) -> usize {
        number(&mut self.requests, key)
    }

    /// The number of a request of the server's.
    pub(crate) fn ask(&mut self, key: ServerRequestId) -> usize {
        number(&mut self.asks, key)
    }

    /// The number of a subscription.
    pub(crate) fn subscription(&mut self, key: SubscriptionKey) -> usize {
        number(&mut self.subscriptions, key)
    }

    /// Adds an event to a trace.
    pub(crate) fn event(&mut self, event: &Event, trace: &Trace) {
        if !trace.is_on() {
            return;
        }
        match event {
            Event::Connected => trace.line(format_args!("connected")),
            Event::Reply(reply) => self.reply(reply, trace),
            Event::Notification(notification) => self.notification(notification, trace),
            Event::Subscription(key) => trace.line(format_args!("subscription s{}", self.subscription(*key))),
            Event::ServerRequest(ask) => {
                let (key, params) = (self.ask(ask.key), json(&ask.params));
                match &ask.during {
                    Some(during) => {
                        trace.line(format_args!(
                            "ask a{key} {} {params} during r{}",
                            ask.method,
                            self.request(during.key)
                        ));
                    }
                    None => trace.line(format_args!("ask a{key} {} {params}", ask.method)),
                }
            }
            Event::ServerRequestCancelled(key) => trace.line(format_args!("ask a{} is given up", self.ask(*key))),
            Event::ServerRequestRefused { method } => trace.line(format_args!("refused the server's {method}")),
            Event::InvalidMessage { excerpt } => trace.line(format_args!("noise {excerpt}")),
            Event::UnmatchedError(error) => trace.line(format_args!("error of no request: {}", rpc_error(error))),
            Event::DeliveryFailed { method, error } => {
                trace.line(format_args!(
                    "undelivered {}: {}",
                    method.as_deref().unwrap_or("answer"),
                    http_error(error)
                ));
                says(error, trace);
            }
            Event::SessionReestablished => trace.line(format_args!("renewed")),
            Event::Restart => trace.line(format_args!("restart")),
            Event::Closed(how) => {
                trace.line(format_args!("closed {}", closed(how)));
                says(how, trace);
            }
            _ => trace.line(format_args!("another event")),
        }
    }

    fn reply(&mut self, reply: &Reply, trace: &Trace) {
        let (number, method) = (self.request(reply.key()), reply.method());
        match (reply.message(), reply.error()) {
            (Some(message), _) => trace.line(format_args!("reply r{number} {method}: {}", Shown(message))),
            (None, Some(error)) => trace.line(format_args!("reply r{number} {method}: {}", call_error(error))),
            (None, None) => trace.line(format_args!("reply r{number} {method}: nothing")),
        }
    }

    fn notification(&mut self, notification: &Notification, trace: &Trace) {
        match notification {
            Notification::Progress { key, progress } => {
                trace.line(format_args!("progress r{} {}", self.request(*key), json(progress)));
            }
            Notification::TaskStatus { key, task } => match key {
                Some(key) => trace.line(format_args!("task status of r{} {}", self.request(*key), json(&**task))),
                None => trace.line(format_args!("task status {}", json(&**task))),
            },
            Notification::Log(log) => trace.line(format_args!("log {}", json(log))),
            Notification::ToolsChanged => trace.line(format_args!("tools changed")),
            Notification::PromptsChanged => trace.line(format_args!("prompts changed")),
            Notification::ResourcesChanged => trace.line(format_args!("resources changed")),
            Notification::ElicitationComplete(complete) => {
                trace.line(format_args!("elicitation complete {}", json(complete)));
            }
            Notification::ResourceUpdated(updated) => trace.line(format_args!("resource updated {}", json(updated))),
            Notification::Other { method, params } => {
                trace.line(format_args!("notification {method} {}", json(params)));
            }
            _ => trace.line(format_args!("another notification")),
        }
    }
}

/// Adds an error's own text.
pub(crate) fn says(error: &impl Display, trace: &Trace) {
    trace.line(format_args!("says {error}"));
}

/// What a reply was read as.
pub(crate) fn result(result: &Result<String, CallError>, trace: &Trace) {
    match result {
        Ok(text) => {
            let mut lines = text.lines();
            trace.line(format_args!("read as {}", lines.next().unwrap_or_default()));
            lines.for_each(|line| trace.line(format_args!("{line}")));
        }
        Err(error) => {
            trace.line(format_args!("failed: {}", call_error(error)));
            says(error, trace);
        }
    }
}

/// Adds why something was not sent.
pub(crate) fn not_sent(error: &SendError, trace: &Trace) {
    trace.line(format_args!("not sent: {}", send_error(error)));
    says(error, trace);
}

/// Adds an HTTP exchange that begins.
pub(crate) fn exchange(exchange: &Exchange, trace: &Trace) {
    let Exchange { id, verb, uri, headers, body, is_long, is_request, .. } = exchange;
    let (id, verb, body) = (id.get(), verb.as_str(), Shown(body));
    trace.line(format_args!("start {id} {verb} {uri}, long {is_long}, request {is_request}: {body}"));
    for (name, value) in headers {
        trace.line(format_args!("with {name}: {value}"));
    }
}

/// A result with a list: as it is written, and what was left out of it.
pub(crate) fn listed<T>(result: &impl Serialize, list: &ItemList<T>) -> String {
    let mut text = json(result);
    for rejected in &list.rejected {
        // Writing to a string does not fail.
        let _ = write!(text, "\nleft out {} {}\nsays {rejected}", rejected.index, json(&rejected.name));
    }
    if list.is_truncated {
        text.push_str("\ncut");
    }
    text
}

/// A value as `serde_json` writes it.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("not written: {error}"))
}

pub(crate) fn server(server: &ServerInfo) -> String {
    let era = match server.era {
        Era::Modern => "modern",
        Era::Legacy => "legacy",
    };
    format!(
        "{era} {} {} {} {}",
        server.protocol_version.as_str(),
        json(&server.implementation),
        json(&server.capabilities),
        json(&server.instructions)
    )
}

pub(crate) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::New => "new",
        Phase::Connecting => "connecting",
        Phase::Ready => "ready",
        Phase::Closed => "closed",
        _ => "in another phase",
    }
}

pub(crate) fn stats(stats: Stats) -> String {
    let Stats { invalid, late, unmatched, cached, refused, .. } = stats;
    format!("noise {invalid} late {late} foreign {unmatched} cached {cached} refused {refused}")
}

pub(crate) fn subscription_event(event: &SubscriptionEvent) -> String {
    match event {
        SubscriptionEvent::Acknowledged(filter) => format!("acknowledged {}", json(filter)),
        SubscriptionEvent::ToolsChanged => "tools changed".into(),
        SubscriptionEvent::PromptsChanged => "prompts changed".into(),
        SubscriptionEvent::ResourcesChanged => "resources changed".into(),
        SubscriptionEvent::ResourceUpdated { uri } => format!("resource updated {uri}"),
        SubscriptionEvent::ManyResourcesUpdated => "many resources updated".into(),
        SubscriptionEvent::Ended(SubscriptionEnd::ByClient) => "ended by the client".into(),
        SubscriptionEvent::Ended(SubscriptionEnd::ByServer) => "ended by the server".into(),
        SubscriptionEvent::Ended(SubscriptionEnd::Failed(error)) => format!("failed: {}", call_error(error)),
        SubscriptionEvent::Ended(SubscriptionEnd::Dropped(how)) => format!("dropped: {}", closed(how)),
        _ => "another change".into(),
    }
}

pub(crate) fn call_error(error: &CallError) -> String {
    match error {
        CallError::Server { method, error } => format!("{method}, server error {}", rpc_error(error)),
        CallError::ToolNotFound { tool, error } => {
            format!("tool not found, {tool}, {}", error.as_deref().map(rpc_error).unwrap_or_default())
        }
        CallError::Invalid { method, error } => format!("{method}, invalid answer, {}", peer_error(error)),
        CallError::Structured { .. } => "structured content".into(),
        CallError::Timeout { method, after, deadline } => {
            let which = match deadline {
                Deadline::Idle => "idle",
                Deadline::Total => "total",
            };
            format!("{method}, timeout, {which}, {after:?}")
        }
        CallError::Cancelled { method } => format!("{method}, cancelled"),
        CallError::Closed { method, reason } => format!("{method}, closed, {}", closed(reason)),
        CallError::Input { method, error } => format!("{method}, no input, {}", input_error(error)),
        CallError::Task { method, task, fault } => format!("{method}, task {task}, {}", task_fault(fault)),
        CallError::WrongTicket { method } => format!("{method}, wrong ticket"),
        CallError::Http { method, error } => format!("{method}, {}", http_error(error)),
        _ => "another error".into(),
    }
}

fn task_fault(fault: &TaskError) -> String {
    match fault {
        TaskError::Cancelled { message } => format!("cancelled by the server, {}", json(message)),
        TaskError::Failed { message } => format!("failed, {}", json(message)),
        TaskError::NoResult { message } => format!("no result, {}", json(message)),
        TaskError::Unknown { error } => format!("unknown, {}", rpc_error(error)),
        TaskError::AnswersRefused { error } => format!("answers refused, {}", rpc_error(error)),
        TaskError::Lost { error } => format!("lost, {}", call_error(error)),
        TaskError::TooMany { limit } => format!("more than {limit}"),
        _ => "another fault".into(),
    }
}

fn input_error(error: &InputError) -> String {
    match error {
        InputError::NotOffered { name, asked } => format!("not offered, {name}, {asked}"),
        InputError::Refused { name, asked, error } => format!("refused, {name}, {asked}, {}", rpc_error(error)),
        InputError::TooManyInputs { limit } => format!("more inputs than {limit}"),
        InputError::TooManyInputRounds { limit } => format!("more rounds than {limit}"),
        InputError::RetryTooLarge { limit } => format!("more to keep than {limit}"),
        InputError::NotSent(error) => format!("not sent, {}", send_error(error)),
        _ => "another reason".into(),
    }
}

fn send_error(error: &SendError) -> String {
    match error {
        SendError::NotInitialized => "not initialized".into(),
        SendError::AlreadyInitialized => "already initialized".into(),
        SendError::Closed => "closed".into(),
        SendError::Params { method, .. } => format!("{method}, unwritable parameters"),
        SendError::NotAnObject { method } => format!("{method}, parameters that are no object"),
        SendError::NotInRevision { method, version, .. } => format!("{method}, not in {}", version.as_str()),
        SendError::NotOffered { method, requires } => format!("{method}, not offered, needs {}", requires.as_str()),
        SendError::NoLogging => "no log messages".into(),
        SendError::UnknownLogLevel { level } => format!("no log level {level}"),
        SendError::TaskRequired { tool } => format!("task required, {tool}"),
        SendError::TooManyInFlight { limit } => format!("{limit} in flight"),
        SendError::TransmitFull { limit } => format!("{limit} bytes unsent"),
        _ => "another reason".into(),
    }
}

fn rpc_error(error: &RpcError) -> String {
    format!("{} {} {}", error.code, json(&error.message), json(&error.data))
}

fn peer_error(error: &PeerError) -> String {
    let at = if error.at.is_empty() { "the top" } else { &error.at };
    match &error.kind {
        PeerErrorKind::NotUtf8 => format!("not UTF-8 at {at}"),
        PeerErrorKind::Malformed(_) => format!("malformed at {at}"),
        PeerErrorKind::TooLong { limit } => format!("longer than {limit}"),
        _ => format!("wrong at {at}"),
    }
}

fn closed(how: &CloseReason) -> String {
    match how {
        CloseReason::ByServer => "by the server".into(),
        CloseReason::ByClient => "by the client".into(),
        CloseReason::NotOpened(error) => format!("before it was open, {}", connect_error(error)),
        _ => "in another way".into(),
    }
}

fn connect_error(error: &ConnectError) -> String {
    match error {
        ConnectError::UnsupportedVersion { server, client } => {
            format!("no common version, {} and {}", json(server), json(client))
        }
        ConnectError::Refused { method, error } => format!("{method}, server error {}", rpc_error(error)),
        ConnectError::Invalid { method, error } => format!("{method}, invalid answer, {}", peer_error(error)),
        ConnectError::Timeout { after } => format!("timeout, {after:?}"),
        ConnectError::Closed => "closed".into(),
        ConnectError::Cancelled => "cancelled".into(),
        ConnectError::Http { method, error } => format!("{method}, {}", http_error(error)),
        _ => "another error".into(),
    }
}

fn http_error(error: &HttpError) -> String {
    match error {
        HttpError::Failed(failure) => {
            let kind = match failure.kind {
                FailureKind::Unreachable => "unreachable",
                FailureKind::Tls => "tls",
                FailureKind::Broken => "broken",
                FailureKind::Invalid => "invalid",
                FailureKind::Redirect => "redirect",
                FailureKind::NotMade => "not made",
                _ => "of another kind",
            };
            format!("failed exchange, {kind}, {}", failure.detail)
        }
        HttpError::Status { status, excerpt, retry_after } => {
            format!("status {status}, {excerpt}{}", wait(*retry_after))
        }
        HttpError::Unauthorized { status, challenges, excerpt, retry_after } => {
            format!("unauthorized, status {status}, {}, {excerpt}{}", json(challenges), wait(*retry_after))
        }
        HttpError::ContentType { status, found, excerpt } => {
            format!("content type {found}, status {status}, {excerpt}")
        }
        HttpError::NoAnswer { status, attempts } => format!("no answer, status {status}, {attempts} attempts"),
        HttpError::SessionLost => "session lost".into(),
        HttpError::NotRenewed { reason } => format!("not renewed, {reason}"),
        HttpError::Endpoint { uri } => format!("endpoint {uri}"),
        _ => "another HTTP error".into(),
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| format!(", retry after {wait:?}")).unwrap_or_default()
}
