//! What is settled for each server besides its command: times, tools, restarts, limits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long things may take. In files: whole milliseconds, in members that end in `_ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    /// Starting it until the connection is open. 60 s by default, and 180 s at the first start of a package, which may have to
    /// be downloaded.
    #[serde(rename = "start_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// Listing its tools. 30 s by default.
    #[serde(rename = "list_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub list: Option<Duration>,
    /// A call, counted anew with each sign of progress. 60 s by default.
    #[serde(rename = "call_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call: Option<Duration>,
    /// A call in all. 600 s by default.
    #[serde(rename = "call_max_ms", with = "millis", skip_serializing_if = "Option::is_none")]
    pub call_max: Option<Duration>,
}

impl Timeouts {
    /// Opening the connection, where nothing else is set.
    pub const START: Duration = Duration::from_secs(60);
    /// The same, at the first start of a package.
    pub const FIRST_START: Duration = Duration::from_secs(180);
    /// Listing tools, where nothing else is set.
    pub const LIST: Duration = Duration::from_secs(30);
    /// A call without a sign of progress, where nothing else is set.
    pub const CALL: Duration = Duration::from_secs(60);
    /// A call in all, where nothing else is set.
    pub const CALL_MAX: Duration = Duration::from_secs(600);

    pub(crate) fn is_default(&self) -> bool {
        *self == Timeouts::default()
    }
}

/// Which tools of a server are offered. It holds when tools are listed and when they are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolFilter {
    /// All that are offered, by the names that the server gives them; `None` offers all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// Those that are not, even if they are allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether a tool of this name is offered.
    pub fn offers(&self, tool: &str) -> bool {
        let is = |name: &String| name == tool;
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(is)) && !self.deny.iter().any(is)
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == ToolFilter::default()
    }
}

/// What happens when a server ends by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RestartPolicy {
    /// It is started again, with growing pauses, and not for ever.
    #[default]
    OnFailure,
    /// Nothing, until somebody starts it.
    Never,
}

impl RestartPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(crate) fn is_default(&self) -> bool {
        *self == RestartPolicy::default()
    }
}

/// How much a server may be used, and how much of its results is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Calls in a minute; 0 for any number. 60 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_minute: Option<u32>,
    /// The longest result, in bytes of text; what is beyond is cut off. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_bytes: Option<u64>,
    /// The longest result, in tokens of a language model, which are estimated. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_tokens: Option<u64>,
}

impl Limits {
    /// Calls in a minute, where nothing else is set.
    pub const CALLS_PER_MINUTE: u32 = 60;

    pub(crate) fn is_default(&self) -> bool {
        *self == Limits::default()
    }
}

/// Who wrote a configuration. Whatever is not by the user needs their consent before it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The user, here.
    #[default]
    User,
    /// A file of another program.
    Imported {
        /// Which program: the name of a [`Dialect`](crate::import::Dialect).
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

/// Durations as whole milliseconds.
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
