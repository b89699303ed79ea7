//! The protocol fields that the `_meta` of each request contains from revision 2026-07-28 on.

use alloc::string::String;

use serde::Serialize;

use super::config::Config;
use mcpwire_types::ProtocolVersion;
use mcpwire_types::json::Json;

/// Returns the members that the `_meta` of each request to a modern server contains, as JSON text without braces
/// (revision 2026-07-28: basic/index, "Per-request protocol fields").
pub(super) fn protocol_fields(config: &Config, version: ProtocolVersion) -> String {
    fields_with(config, version, &config.capabilities)
}

/// Like [`protocol_fields`], but also declares the tasks extension in the client capabilities. For requests that poll a
/// task or may become one.
pub(super) fn task_fields(config: &Config, version: ProtocolVersion) -> String {
    let mut capabilities = config.capabilities.clone();
    capabilities.declare_tasks();
    fields_with(config, version, &capabilities)
}

fn fields_with(config: &Config, version: ProtocolVersion, capabilities: &impl Serialize) -> String {
    let mut members = alloc::format!(
        r#""io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}"#,
        to_json(&config.client_info),
        to_json(capabilities),
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
