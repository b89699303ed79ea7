//! The protocol fields that the `_meta` of each request contains from revision 2026-07-28 on.

use alloc::string::String;

use serde::Serialize;

use super::config::Config;
use crate::json::Json;
use crate::types::ProtocolVersion;

/// Returns the members that the `_meta` of each request contains from revision 2026-07-28 on, as JSON text without
/// braces (basic/index, "Per-request protocol fields").
pub(super) fn protocol_fields(config: &Config, version: ProtocolVersion) -> String {
    fields_with(config, version, &config.capabilities)
}

/// Returns the same members as [`protocol_fields`], but with the tasks extension among the client's capabilities.
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

/// Serializes a value of the configuration, such as the client information. Serializing these values cannot fail.
pub(super) fn to_json(value: &impl Serialize) -> Json {
    Json::from_value(value).unwrap_or_default()
}
