//! The settings of a server apart from its command: timeouts, tools, restarts, limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The timeouts of one server. In the configuration file, they are whole milliseconds, in members whose names end in `_ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Timeouts {
    /// Maximum time from the start of the server until the MCP connection is open. The default is 60 s, and 180 s at the first
    /// start of a package, because it may have to be downloaded.
    #[serde(rename = "start_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// Maximum time to list the tools of the server. The default is 30 s.
    #[serde(rename = "list_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub list: Option<Duration>,
    /// Maximum time to wait for the result of a tool call. Each progress notification restarts this timeout. The default is 60
    /// s.
    #[serde(rename = "call_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call: Option<Duration>,
    /// Maximum total duration of a tool call, even if the server reports progress. The default is 600 s.
    #[serde(rename = "call_max_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call_max: Option<Duration>,
}

impl Timeouts {
    /// Default maximum time for the start of a server. See [`start`](Self::start).
    pub const START: Duration = Duration::from_secs(60);
    /// Default maximum time for the first start of a package, which may have to be downloaded. See [`start`](Self::start).
    pub const FIRST_START: Duration = Duration::from_secs(180);
    /// Default maximum time to list the tools of a server. See [`list`](Self::list).
    pub const LIST: Duration = Duration::from_secs(30);
    /// Default maximum time to wait for the result of a tool call. See [`call`](Self::call).
    pub const CALL: Duration = Duration::from_secs(60);
    /// Default maximum total duration of a tool call. See [`call_max`](Self::call_max).
    pub const CALL_MAX: Duration = Duration::from_secs(600);
}

/// Selects which tools of a server the hub offers. The hub hides all other tools, and rejects calls of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolFilter {
    /// The names of the tools to offer, as the server names them. `None` offers all tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The names of tools to hide, as the server names them. The hub hides them even if `allow` contains them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Returns whether the filter offers the tool that the server names `tool`.
    pub fn offers(&self, tool: &str) -> bool {
        let is = |name: &String| name == tool;
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(is)) && !self.deny.iter().any(is)
    }
}

/// Whether the hub restarts a server after the server has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RestartPolicy {
    /// The hub restarts the server with increasing delays, up to a maximum number of attempts.
    #[default]
    OnFailure,
    /// The hub does not restart the server.
    Never,
}

/// Limits for the number of tool calls to a server and for the size of their results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of tool calls per minute. `None`, the default, and 0 mean no limit.
    ///
    /// There is no limit by default, because no number fits everyone: a model makes a few calls per minute, but a program may
    /// make hundreds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_minute: Option<u32>,
    /// Maximum size of the result of a tool call, in bytes. A larger result is truncated. `None`, the default, means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// Maximum size of the result of a tool call, in estimated tokens of a language model. `None`, the default, means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_tokens: Option<u64>,
}

/// Who wrote the configuration of a server. If it was not the user, the user must agree before the hub starts the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The user wrote the configuration.
    #[default]
    User,
    /// The configuration was imported from the configuration file of another program.
    Imported {
        /// The name of the file format, such as `claude-desktop`. See [`Dialect`](crate::import::Dialect).
        from: String,
    },
    /// The configuration comes from a server registry.
    Registry,
}

/// Returns whether a setting has its default value, and is left out of the file.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Serializes an optional duration as a whole number of milliseconds.
pub(super) mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(crate) fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(|value| u64::try_from(value.as_millis()).unwrap_or(u64::MAX)).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
