//! Reads a configuration from JSON, with errors that name the field.

use serde::Deserialize as _;
use serde_json::{Map, Value};

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
        // A member that is `null` counts as absent. The data in `config` may be `null`.
        members.retain(|name, value| name == "config" || !value.is_null());
        let mut config = McpConfig::deserialize(&members).map_err(|_| wrong_member(members))?;
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

/// Returns the error for the first of `members` that is invalid. Each member is tried alone in a valid sample configuration,
/// because serde's error does not name the member.
fn wrong_member(members: Map<String, Value>) -> HubError {
    let sample = McpConfig::binary("sample", "sample").to_json();
    let wrong = members.into_iter().find_map(|(name, value)| {
        let may_be_secret = MAY_BE_SECRET.contains(&name.as_str()) || (name == "transport" && !value.is_object());
        let mut probe = sample.clone();
        probe[name.as_str()] = value;
        let error = McpConfig::deserialize(probe).err()?;
        let message = if may_be_secret {
            "this value, or a value in it, has the wrong type".to_owned()
        } else {
            error.to_string()
        };
        Some(HubError::validation(name, message))
    });
    wrong.unwrap_or_else(|| HubError::validation("", "this is not the configuration of a server"))
}

/// Names of members that may contain secrets. For these, serde's error message is not shown, because it quotes the wrong value.
const MAY_BE_SECRET: [&str; 7] = ["env_vars", "headers", "variables", "args", "runtime_args", "config", "oauth"];
