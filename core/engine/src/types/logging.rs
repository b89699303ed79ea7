//! Log levels, and the request that sets one (up to 2025-11-25, server/utilities/logging, "Setting Log Level").
//!
//! From 2026-07-28 on, each request says in its `_meta` which log messages it asks for.

use serde::Serialize;

use super::open_enum::open_enum;

open_enum! {
    /// The severity of a log message: the levels of syslog (RFC 5424, section 6.2.1), least severe first.
    pub enum LoggingLevel {
        /// Details for debugging.
        Debug = "debug",
        /// Normal operation.
        #[default]
        Info = "info",
        /// Normal operation, but worth notice.
        Notice = "notice",
        /// A condition that may become an error.
        Warning = "warning",
        /// An error.
        Error = "error",
        /// A component has failed.
        Critical = "critical",
        /// Someone must act at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

/// Parameters of `logging/setLevel`.
#[derive(Debug, Serialize)]
pub struct SetLevelParams<'a> {
    /// The least severe level to send. Servers refuse levels that the specification does not define.
    pub level: &'a LoggingLevel,
}
