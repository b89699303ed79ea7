//! The `_meta` of requests: the protocol fields that the session adds from revision 2026-07-28 on, and JSON objects that are
//! built from the members of others.

use alloc::string::String;

use serde::Serialize;

use super::config::{Config, declare_tasks};
use mcpwire_text::json::Json;
use mcpwire_text::json::scan::{self, Member};
use mcpwire_types::{Extra, ProtocolVersion};

/// Returns the members that the `_meta` of each request to a modern server contains, as JSON text without braces
/// (revision 2026-07-28: basic/index, "Per-request protocol fields").
///
/// With `declares_tasks`, the client capabilities contain the tasks extension even if [`Config::capabilities`] does not.
/// For requests that poll a task or may become one.
pub(super) fn protocol_fields(config: &Config, version: ProtocolVersion, declares_tasks: bool) -> String {
    let mut capabilities = config.capabilities.clone();
    if declares_tasks && !capabilities.has_tasks() {
        declare_tasks(&mut capabilities);
    }
    let mut members = alloc::format!(
        r#""io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}"#,
        to_json(&config.client_info),
        to_json(&capabilities),
    );
    if let Some(level) = &config.log_level {
        members.push_str(r#","io.modelcontextprotocol/logLevel":"#);
        members.push_str(to_json(level).get());
    }
    members.shrink_to_fit();
    members
}

/// Serializes a value of [`Config`], such as the client information, which cannot fail to serialize.
pub(super) fn to_json(value: &impl Serialize) -> Json {
    Json::from_value(value).unwrap_or_default()
}

/// Returns a copy of a JSON object without the member `name`.
pub(super) fn without(object_text: &Json, name: &str) -> Json {
    let mut members = scan::members(object_text.get().as_bytes());
    object(&mut || members.find(|member| !member.is(name)))
}

/// Returns a JSON object with the members of both objects. If both have a member with the same name, uses the one from
/// `first`.
pub(super) fn merged(first: &Json, second: &Json) -> Json {
    let of_first = || scan::members(first.get().as_bytes());
    let (mut firsts, mut seconds) = (of_first(), scan::members(second.get().as_bytes()));
    object(&mut || match firsts.next() {
        Some(member) => Some(member),
        None => seconds.find(|member| of_first().all(|other| other.key() != member.key())),
    })
}

pub(super) fn object<'m>(next: &mut dyn FnMut() -> Option<Member<'m>>) -> Json {
    let mut object = Extra::default();
    while let Some(member) = next() {
        let value = core::str::from_utf8(member.value).ok().and_then(|text| Json::parse(text).ok());
        object.push(member.key(), value.unwrap_or_default());
    }
    to_json(&object)
}
