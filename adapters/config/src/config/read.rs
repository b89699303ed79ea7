//! Reads a configuration from JSON, with errors that name the field.

use serde_json::Value;

use super::McpConfig;
use crate::HubError;

impl McpConfig {
    /// Reads the configuration of a server from JSON, without validating it.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` if a member is missing or has the wrong type. The error names the member if it is known.
    pub fn from_json(value: &Value) -> Result<McpConfig, HubError> {
        let Value::Object(members) = value else {
            return Err(HubError::validation("", "the configuration of a server must be an object"));
        };
        let absent = |name: &str| members.get(name).is_none_or(Value::is_null);
        if absent("name") {
            return Err(HubError::validation("name", "Name is required"));
        }
        if value.pointer("/package/identifier").is_none_or(Value::is_null) {
            return Err(HubError::validation("package.identifier", "Package identifier required"));
        }
        if absent("transport") {
            return Err(HubError::validation("transport", "Transport required"));
        }
        let mut members = members.clone();
        // `null` means absent.
        members.retain(|name, value| name == "config" || !value.is_null());
        let mut config = member_by_member(members)?;
        for values in [&mut config.env_vars, &mut config.headers, &mut config.variables] {
            for (name, value) in values {
                if value.name.is_empty() {
                    value.name.clone_from(name);
                }
            }
        }
        if let Some(secret) = config.oauth.client_secret.as_mut().filter(|secret| secret.name.is_empty()) {
            "client_secret".clone_into(&mut secret.name);
        }
        Ok(config)
    }

    /// Converts the configuration to a JSON object.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Converts JSON members to a configuration, or returns an error that names the first invalid member. If the members cannot be
/// converted together, each one is tried alone in a valid sample configuration, because serde's error does not name the member.
fn member_by_member(members: serde_json::Map<String, Value>) -> Result<McpConfig, HubError> {
    let whole = Value::Object(members);
    if let Ok(config) = serde_json::from_value::<McpConfig>(whole.clone()) {
        return Ok(config);
    }
    let Value::Object(members) = whole else { return Err(HubError::validation("", NOT_A_CONFIGURATION)) };
    let sample = McpConfig::binary("sample", "sample").to_json();
    for (name, value) in members {
        let may_be_secret = MAY_BE_SECRET.contains(&name.as_str()) || (name == "transport" && !value.is_object());
        let mut probe = sample.clone();
        probe[name.as_str()] = value;
        if let Err(error) = serde_json::from_value::<McpConfig>(probe) {
            let message = if may_be_secret { WRONG_TYPE.to_owned() } else { error.to_string() };
            return Err(HubError::validation(name, message));
        }
    }
    Err(HubError::validation("", NOT_A_CONFIGURATION))
}

/// Names of members that may contain secrets. For these, serde's error message is not shown, because it quotes the wrong value.
const MAY_BE_SECRET: [&str; 7] = ["env_vars", "headers", "variables", "args", "runtime_args", "config", "oauth"];

const WRONG_TYPE: &str = "this value, or a value in it, has the wrong type";

const NOT_A_CONFIGURATION: &str = "this is not the configuration of a server";
