//! Writes the headers of requests (2026-07-28, basic/transports/streamable-http, "Request Metadata"; 2025-11-25,
//! basic/transports, "Session Management" and "Protocol Version Header").

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::{memchr, memmem};

use super::headers::encode_value;
use super::incoming::EVENT_STREAM;
use super::settings::Settings;
use crate::json::scan::{member, text};
use crate::types::{Era, ProtocolVersion};

pub(super) type Headers = Vec<(Cow<'static, str>, String)>;

const SESSION: &str = "Mcp-Session-Id";
const VERSION: &str = "MCP-Protocol-Version";

/// What the headers of a connection depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderWriter<'a> {
    pub(super) settings: &'a Settings,
    /// The negotiated version, once the connection is open.
    pub(super) version: Option<ProtocolVersion>,
    /// The id of the legacy session.
    pub(super) session: Option<&'a str>,
}

impl HeaderWriter<'_> {
    /// Returns the headers of a message that is posted.
    pub(super) fn message(&self, method: &str, message: &[u8]) -> Headers {
        let mut headers = self.common("application/json, text/event-stream");
        headers.insert(0, ("Content-Type".into(), "application/json".into()));
        let modern = self.version.filter(|version| version.era() == Era::Modern);
        let probed = if method == "server/discover" { version_in(message) } else { None };
        if let Some(version) = probed.or(modern) {
            headers.push((VERSION.into(), version.as_str().into()));
            headers.push(("Mcp-Method".into(), encode_value(method).into_owned()));
            if let Some(name) = name_of(method, message) {
                headers.push(("Mcp-Name".into(), encode_value(&name).into_owned()));
            }
        } else if !matches!(method, "initialize" | "server/discover") {
            self.push_session(&mut headers);
        }
        headers
    }

    /// Returns the headers of a request without a message. `last_event_id` is empty for none.
    pub(super) fn stream(&self, last_event_id: &str) -> Headers {
        let mut headers = self.common(EVENT_STREAM);
        self.push_session(&mut headers);
        if !last_event_id.is_empty() {
            headers.push(("Last-Event-ID".into(), last_event_id.into()));
        }
        headers
    }

    fn common(&self, accept: &'static str) -> Headers {
        let mut headers = Vec::with_capacity(8 + self.settings.headers.len());
        headers.push((Cow::Borrowed("Accept"), accept.into()));
        headers.extend(self.settings.headers.iter().map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
        headers
    }

    /// Appends the headers of a legacy session. The header with the version exists since 2025-06-18; without it servers assume
    /// 2025-03-26.
    fn push_session(&self, headers: &mut Headers) {
        let version = self.version.map(ProtocolVersion::as_str);
        if let Some(version) = version.filter(|version| *version >= ProtocolVersion::V2025_06_18.as_str()) {
            headers.push((VERSION.into(), version.into()));
        }
        if let Some(session) = self.session {
            headers.push((SESSION.into(), session.into()));
        }
    }
}

/// Whether a request names a legacy session.
pub(super) fn names_session(headers: &Headers) -> bool {
    headers.iter().any(|(name, _)| name == SESSION)
}

/// Returns what `Mcp-Name` repeats ("Standard Request Headers"; for tasks, the extension's "Streamable HTTP" section).
fn name_of(method: &str, message: &[u8]) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    member(member(message, "params")?, key).and_then(text)
}

/// Returns the version in the `_meta` of `server/discover`, which is not always the one that is negotiated.
fn version_in(message: &[u8]) -> Option<ProtocolVersion> {
    const KEY: &[u8] = b"\"io.modelcontextprotocol/protocolVersion\":\"";
    let value = &message[memmem::find(message, KEY)? + KEY.len()..];
    let name = core::str::from_utf8(&value[..memchr(b'"', value)?]).ok()?;
    name.parse().ok()
}
