//! [`Endpoint`]: the URL and the headers of each HTTP request.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Request Metadata"; protocol revision
//! 2025-11-25, basic/transports, "Session Management" and "Protocol Version Header".

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::command::Verb;
use super::header_values::{Headers, encode_value};
use super::request::Request;
use super::response::EVENT_STREAM;
use super::settings::Settings;
use mcpwire_text::json::scan::{member, text};
use mcpwire_types::{Era, ProtocolVersion};

const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";

/// The HTTP method, the URL and the headers of a request.
pub(super) struct RequestHead {
    pub(super) verb: Verb,
    pub(super) uri: String,
    pub(super) headers: Headers,
    /// The session that the `Mcp-Session-Id` header names. `None` if there is no such header.
    pub(super) session: Option<SessionGeneration>,
}

/// Identifies a session with a legacy server (up to revision 2025-11-25). The session that replaces an ended one has a
/// higher number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SessionGeneration(u32);

/// The negotiated values that determine the URL and the headers of each HTTP request.
#[derive(Default)]
pub(super) struct Endpoint {
    /// The negotiated protocol version. `None` until the connection is open.
    pub(super) version: Option<ProtocolVersion>,
    /// The value of the `Mcp-Session-Id` header. `None` unless a legacy server (up to revision 2025-11-25) assigned an
    /// id.
    pub(super) session_id: Option<String>,
    pub(super) generation: SessionGeneration,
    /// The URL to which the client posts messages, as an HTTP+SSE server sent it. `None` with Streamable HTTP.
    pub(super) message_uri: Option<String>,
}

impl Endpoint {
    /// Returns whether the negotiated protocol revision is 2026-07-28 or later. Returns `false` until the connection is
    /// open.
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some_and(|version| version.era() == Era::Modern)
    }

    /// Forgets the session id, because the server has ended the legacy session. Increments the [`SessionGeneration`].
    pub(super) fn end_session(&mut self) {
        self.session_id = None;
        self.generation.0 += 1;
    }

    /// Returns whether the connection uses HTTP+SSE. Only servers with this transport send a separate URL for messages.
    pub(super) fn is_http_sse(&self) -> bool {
        self.message_uri.is_some()
    }

    /// Returns the head of the `POST` request that sends a request of the session.
    pub(super) fn post_request(&self, settings: &Settings, request: &Request) -> RequestHead {
        let mut head = self.post(settings, request.method(), request.head.version);
        if request.head.version.is_some()
            && let Some(name) = name_of(request.method(), request.params())
        {
            head.headers.push(("Mcp-Name".into(), encode_value(&name).into_owned()));
        }
        head
    }

    /// Returns the head of the `POST` request that sends any other message.
    ///
    /// `method` is the JSON-RPC method of the message, or empty for an answer to a server request.
    pub(super) fn post_message(&self, settings: &Settings, method: &str) -> RequestHead {
        self.post(settings, method, self.version.filter(|version| version.era() == Era::Modern))
    }

    /// `modern` is the version that the message declares, if that is a modern one (from revision 2026-07-28).
    fn post(&self, settings: &Settings, method: &str, modern: Option<ProtocolVersion>) -> RequestHead {
        let mut headers = common_headers(settings, "application/json, text/event-stream");
        headers.insert(0, ("Content-Type".into(), "application/json".into()));
        let mut session = None;
        if let Some(version) = modern {
            headers.push((VERSION.into(), version.as_str().into()));
            headers.push(("Mcp-Method".into(), encode_value(method).into_owned()));
        } else if !matches!(method, "initialize" | "server/discover") {
            session = self.push_session(&mut headers);
        }
        let uri = self.message_uri.as_ref().unwrap_or(&settings.uri).clone();
        RequestHead { verb: Verb::Post, uri, headers, session }
    }

    /// Returns the head of a `GET` request for an event stream. With `last_event_id`, the request resumes a broken
    /// stream after that event.
    pub(super) fn get(&self, settings: &Settings, last_event_id: Option<&str>) -> RequestHead {
        let mut head = self.without_body(settings, Verb::Get);
        head.headers.extend(last_event_id.map(|id| ("Last-Event-ID".into(), id.into())));
        head
    }

    /// Returns the head of the `DELETE` request that ends the legacy session.
    pub(super) fn delete(&self, settings: &Settings) -> RequestHead {
        self.without_body(settings, Verb::Delete)
    }

    fn without_body(&self, settings: &Settings, verb: Verb) -> RequestHead {
        let mut headers = common_headers(settings, EVENT_STREAM);
        let session = self.push_session(&mut headers);
        RequestHead { verb, uri: settings.uri.clone(), headers, session }
    }

    /// Appends the `MCP-Protocol-Version` and `Mcp-Session-Id` headers of a legacy session. Returns the number of that
    /// session, or `None` if the server assigned no session id.
    ///
    /// Revision 2025-06-18 introduced the version header, so it is omitted for earlier revisions.
    fn push_session(&self, headers: &mut Headers) -> Option<SessionGeneration> {
        let version = self.version.map(ProtocolVersion::as_str);
        if let Some(version) = version.filter(|version| *version >= ProtocolVersion::V2025_06_18.as_str()) {
            headers.push((VERSION.into(), version.into()));
        }
        let id = self.session_id.as_ref()?;
        headers.push((SESSION.into(), id.clone()));
        Some(self.generation)
    }
}

/// Returns an `Accept` header with the value `accept`, followed by the headers from the settings.
fn common_headers(settings: &Settings, accept: &'static str) -> Headers {
    let mut headers = Vec::with_capacity(8 + settings.headers.len());
    headers.push((Cow::Borrowed("Accept"), accept.into()));
    headers.extend(settings.headers.iter().cloned());
    headers
}

/// Returns the value of the `Mcp-Name` header for a request, or `None` if requests of this method have no such header.
/// `params` is a JSON object without its closing brace.
///
/// Specification: basic/transports/streamable-http, "Standard Request Headers"; tasks extension, "Streamable HTTP".
fn name_of(method: &str, params: &[u8]) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    member(params, key).and_then(text)
}
