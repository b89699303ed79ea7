//! The settings of a server besides its command: timeouts, tools, restarts, limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The timeouts of a server. In files: whole milliseconds, in members that end in `_ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    /// Maximum time from the start until the connection is open. 60 s by default, and 180 s at the first start of a package,
    /// which may have to be downloaded.
    #[serde(rename = "start_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// Maximum time to list the tools. 30 s by default.
    #[serde(rename = "list_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub list: Option<Duration>,
    /// Maximum time to wait for the result of a call. Progress restarts it. 60 s by default.
    #[serde(rename = "call_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call: Option<Duration>,
    /// Maximum total duration of a call. 600 s by default.
    #[serde(rename = "call_max_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call_max: Option<Duration>,
}

impl Timeouts {
    /// Default of [`start`](Self::start).
    pub const START: Duration = Duration::from_secs(60);
    /// Default of [`start`](Self::start) at the first start of a package.
    pub const FIRST_START: Duration = Duration::from_secs(180);
    /// Default of [`list`](Self::list).
    pub const LIST: Duration = Duration::from_secs(30);
    /// Default of [`call`](Self::call).
    pub const CALL: Duration = Duration::from_secs(60);
    /// Default of [`call_max`](Self::call_max).
    pub const CALL_MAX: Duration = Duration::from_secs(600);

    pub(crate) fn is_default(&self) -> bool {
        *self == Timeouts::default()
    }
}

/// Selects the tools of a server that the hub offers. Other tools are hidden, and calls of them are rejected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFilter {
    /// The names of the offered tools, as the server uses them. `None` offers all tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// The names of tools that are not offered, even if they are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Returns whether a tool with this name is offered.
    pub fn offers(&self, tool: &str) -> bool {
        let is = |name: &String| name == tool;
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(is)) && !self.deny.iter().any(is)
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == ToolFilter::default()
    }
}

/// Whether a server is restarted after a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RestartPolicy {
    /// The server is restarted with increasing delays, up to a maximum number of attempts.
    #[default]
    OnFailure,
    /// The server is not restarted.
    Never,
}

impl RestartPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(crate) fn is_default(&self) -> bool {
        *self == RestartPolicy::default()
    }
}

/// The limits of a server's calls and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Maximum number of calls in a minute. `None`, the default, and 0 mean no limit.
    ///
    /// There is no limit by default, because no limit suits both a model, which makes a few calls a minute, and a program,
    /// which may make hundreds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_minute: Option<u32>,
    /// Maximum size of a result, in bytes. A larger result is truncated. `None`, the default, means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// Maximum size of a result, in estimated tokens of a language model. `None`, the default, means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_tokens: Option<u64>,
}

impl Limits {
    pub(crate) fn is_default(&self) -> bool {
        *self == Limits::default()
    }
}

/// Who wrote a configuration. If it was not the user, the user must agree before the server is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The user.
    #[default]
    User,
    /// The configuration file of another program.
    Imported {
        /// The name of the [`Dialect`](crate::import::Dialect) of that program.
        from: String,
    },
    /// A registry of servers.
    Registry,
}

impl Origin {
    pub(crate) fn is_default(&self) -> bool {
        *self == Origin::User
    }
}

/// Serializes durations as whole milliseconds.
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
