//! Handles the messages that a [`ScriptedServer`] receives, and defines its default answers to the methods of the protocol.

use mcpwire_driver::protocol::{Json, ProtocolVersion, RpcError, Timestamp};

use crate::lock;
use crate::progress_and_responses::RequestInfo;
use crate::response::ScriptedResponse;
use crate::server::{Handler, ScriptedServer, State};
use crate::wire::{Cancellation, RecordedMessage};
use crate::wire::{json, trusted};

/// How to answer a request: with a given response, or by calling a handler of the test. The lock of the server is not held during
/// the call.
pub(crate) enum Plan {
    Respond(ScriptedResponse),
    Call(Handler, Json),
}

/// The key in `_meta` for the protocol revision of a request (2026-07-28, basic/index, "Per-request protocol fields").
pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The first revision of the modern era. Revisions are dates, which sort as text.
const MODERN: &str = ProtocolVersion::V2026_07_28.as_str();

impl ScriptedServer {
    /// Records a message that arrived over a connection, handles it, and plans the answer.
    pub(crate) fn receive(&self, connection: usize, now: Timestamp, line: &str) {
        let message = RecordedMessage::new(now.since_origin(), connection, line);
        let mut state = self.lock();
        state.recorded.push(message.clone());
        if message.method.is_empty() {
            drop(state);
            return self.answered(connection, &message);
        }
        let params = message.params.clone().unwrap_or_default();
        let meta: Json = message.param("_meta").unwrap_or_default();
        let version: Option<String> = meta.member(VERSION);
        let plan = match &message.id {
            Some(_) => state.plan(&message.method, &params, version.as_deref()),
            // A notification gets no answer, but its handler may send messages.
            None => match state.methods.get(&message.method) {
                Some(handler) => Plan::Call(handler.clone(), params),
                None => Plan::Respond(ScriptedResponse::new()),
            },
        };
        let cancelled = Cancellation::of(&message).filter(|_| !state.ignores_cancellations);
        drop(state);
        // The lock is not held while a handler runs, because the handler may use the server.
        let answer = match plan {
            Plan::Respond(answer) => answer,
            Plan::Call(handler, params) => lock(&handler)(&params),
        };
        let mut state = self.lock();
        let State { outboxes, latency, last_request_id, .. } = &mut *state;
        let Some(client) = outboxes.get(&connection).map(|outbox| outbox.client) else { return };
        if let Some(cancelled) = cancelled {
            let of_client = outboxes.values_mut().filter(|outbox| outbox.client == client);
            of_client.for_each(|outbox| outbox.forget(&cancelled.id));
        }
        let Some(outbox) = outboxes.get_mut(&connection) else { return };
        let progress_token = meta.member("progressToken");
        let info = RequestInfo { id: message.id, modern: version.is_some(), progress_token };
        outbox.answer(&info, answer.steps, *latency, last_request_id);
    }

    /// Handles a client's response to a request of the server: continues the answer that waits for the response. The response may
    /// arrive over any connection of the client.
    fn answered(&self, connection: usize, message: &RecordedMessage) {
        let Some(id) = &message.id else { return };
        let mut state = self.lock();
        let Some(client) = state.outboxes.get(&connection).map(|outbox| outbox.client) else { return };
        let mut of_client = state.outboxes.iter_mut().filter(|(_, outbox)| outbox.client == client);
        let question = of_client.find_map(|(at, outbox)| Some((*at, outbox.take_question(id)?)));
        drop(state);
        let Some((asked_over, question)) = question else { return };
        let answer = (question.then.0)(message.answer());
        let mut state = self.lock();
        let State { outboxes, last_request_id, .. } = &mut *state;
        let Some(outbox) = outboxes.get_mut(&asked_over) else { return };
        outbox.go_on(question, answer, last_request_id);
        let waker = outbox.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl State {
    /// Decides how to answer a request. `version` is the protocol revision in the `_meta` of the request, or `None` for a legacy
    /// request.
    pub(crate) fn plan(&self, method: &str, params: &Json, version: Option<&str>) -> Plan {
        if let Some(handler) = self.methods.get(method) {
            return Plan::Call(handler.clone(), params.clone());
        }
        // A server that supports only the legacy era ignores a modern revision.
        let speaks_modern = self.versions.iter().any(|known| is_modern(known));
        if let Some(version) = version.filter(|version| speaks_modern && !self.versions.iter().any(|v| v == version)) {
            return Plan::Respond(self.unsupported(version).into());
        }
        Plan::Respond(match method {
            "server/discover" if speaks_modern => self.discover(),
            "initialize" => self.initialize(params),
            "ping" => ScriptedResponse::new().complete(trusted("{}".into())),
            "tools/list" => self.list_tools(params, version.is_some()),
            "tools/call" => return self.call_tool(params),
            _ => RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found").into(),
        })
    }

    fn discover(&self) -> ScriptedResponse {
        ScriptedResponse::new().complete(trusted(format!(
            r#"{{"supportedVersions":{},"capabilities":{},{}"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
            json(&self.versions),
            self.capabilities,
            self.instructions_member(),
            self.info(),
        )))
    }

    fn initialize(&self, params: &Json) -> ScriptedResponse {
        let asked: String = params.member("protocolVersion").unwrap_or_default();
        let legacy = || self.versions.iter().filter(|version| !is_modern(version));
        // The requested revision, or else the newest supported one (2025-11-25, basic/lifecycle, "Version Negotiation").
        let Some(version) = legacy().find(|version| **version == asked).or_else(|| legacy().max()) else {
            return self.unsupported(&asked).into();
        };
        ScriptedResponse::new().complete(trusted(format!(
            r#"{{"protocolVersion":{},"capabilities":{},{}"serverInfo":{}}}"#,
            json(version),
            self.capabilities,
            self.instructions_member(),
            self.info(),
        )))
    }

    fn list_tools(&self, params: &Json, modern: bool) -> ScriptedResponse {
        let cursor: Option<String> = params.member("cursor");
        let Ok(begin) = cursor.map_or(Ok(0), |cursor| cursor.parse::<usize>()) else {
            return RpcError::new(RpcError::INVALID_PARAMS, "Invalid cursor").into();
        };
        let end = begin.saturating_add(self.page_size).min(self.tools.len());
        let page: Vec<&Json> = self.tools.get(begin..end).unwrap_or_default().iter().map(|(_, tool, _)| tool).collect();
        let page = json(&page);
        let next = if end < self.tools.len() { format!(r#","nextCursor":"{end}""#) } else { String::new() };
        let caching = if modern { r#","ttlMs":0,"cacheScope":"private""# } else { "" };
        ScriptedResponse::new().complete(trusted(format!(r#"{{"tools":{page}{next}{caching}}}"#)))
    }

    fn call_tool(&self, params: &Json) -> Plan {
        let name: String = params.member("name").unwrap_or_default();
        match self.tools.iter().find(|(known, ..)| *known == name) {
            Some((_, _, handler)) => {
                let arguments = params.member("arguments").unwrap_or_else(|| trusted("{}".into()));
                Plan::Call(handler.clone(), arguments)
            }
            None => Plan::Respond(RpcError::new(RpcError::INVALID_PARAMS, format!("Unknown tool: {name}")).into()),
        }
    }

    fn unsupported(&self, requested: &str) -> RpcError {
        let mut error = RpcError::new(RpcError::UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version");
        let (supported, requested) = (json(&self.versions), json(requested));
        error.data = Some(trusted(format!(r#"{{"supported":{supported},"requested":{requested}}}"#)));
        error
    }

    fn info(&self) -> Json {
        trusted(format!(r#"{{"name":{},"version":{}}}"#, json(&self.name), json(&self.version)))
    }

    fn instructions_member(&self) -> String {
        self.instructions.as_ref().map(|text| format!(r#""instructions":{},"#, json(text))).unwrap_or_default()
    }
}

fn is_modern(version: &str) -> bool {
    version >= MODERN
}
