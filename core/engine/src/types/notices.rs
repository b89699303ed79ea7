//! What servers tell unasked: progress and log messages.

use alloc::string::String;
use core::convert::Infallible;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::object::object;
use crate::json::Json;
use crate::json::from_json::{FromJson, Mismatch, skip_mismatch};
use crate::json::read::{self, Reader};

object! {
    /// How far a request has come (2026-07-28, basic/patterns/progress).
    pub struct Progress("an object") {
        /// Which request; the engine has matched it already.
        optional progress_token: Json = "progressToken",
        /// What has been done; grows from message to message.
        or_blank progress: f64 = "progress",
        /// What there is to do, where the server knows it.
        optional total: f64 = "total",
        /// What is being done, in words.
        optional message: String = "message",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl Progress {
    /// The part that has been done, from 0 to 1, where the total is known.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0))
    }
}

object! {
    /// A log message of the server's (2026-07-28, server/utilities/logging).
    pub struct LogMessage("an object") {
        /// How grave it is.
        or_blank level: LoggingLevel = "level",
        /// Which part of the server speaks.
        optional logger: String = "logger",
        /// The message: a string or any other value.
        or_blank data: Json = "data",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl LogMessage {
    /// The message as text: a string without its quotes, any other value as JSON.
    pub fn text(&self) -> String {
        self.data.decode().unwrap_or_else(|_| self.data.get().into())
    }
}

/// How grave a log message is: the levels of syslog (RFC 5424, section 6.2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoggingLevel {
    /// For debugging.
    Debug,
    /// Something normal.
    #[default]
    Info,
    /// Something normal and worth notice.
    Notice,
    /// Something that may become an error.
    Warning,
    /// An error.
    Error,
    /// A part has failed.
    Critical,
    /// Someone must act now.
    Alert,
    /// Nothing works.
    Emergency,
    /// A level that the specification does not have.
    Other(String),
}

impl LoggingLevel {
    /// As it stands on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            LoggingLevel::Debug => "debug",
            LoggingLevel::Info => "info",
            LoggingLevel::Notice => "notice",
            LoggingLevel::Warning => "warning",
            LoggingLevel::Error => "error",
            LoggingLevel::Critical => "critical",
            LoggingLevel::Alert => "alert",
            LoggingLevel::Emergency => "emergency",
            LoggingLevel::Other(name) => name,
        }
    }
}

impl fmt::Display for LoggingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::printable(self.as_str()))
    }
}

impl FromStr for LoggingLevel {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Infallible> {
        Ok(match name {
            "debug" => LoggingLevel::Debug,
            "info" => LoggingLevel::Info,
            "notice" => LoggingLevel::Notice,
            "warning" => LoggingLevel::Warning,
            "error" => LoggingLevel::Error,
            "critical" => LoggingLevel::Critical,
            "alert" => LoggingLevel::Alert,
            "emergency" => LoggingLevel::Emergency,
            other => LoggingLevel::Other(other.into()),
        })
    }
}

impl FromJson for LoggingLevel {
    const EXPECTED: &'static str = "a string";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'"') {
            return skip_mismatch(reader).map(Err);
        }
        match reader.string()?.parse() {
            Ok(level) => Ok(Ok(level)),
            Err(never) => match never {},
        }
    }
}

impl<'de> Deserialize<'de> for LoggingLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(|never| match never {})
    }
}

impl Serialize for LoggingLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
