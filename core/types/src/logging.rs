//! Log levels, and the request `logging/setLevel`. Specification of revision 2025-11-25: server/utilities/logging,
//! "Setting Log Level".
//!
//! From revision 2026-07-28 on, each request sets its own log level in `_meta`.

use serde::Serialize;

use mcpwire_text::open_enum;

open_enum! {
    /// Severity of a log message. The variants are the levels of syslog (RFC 5424, section 6.2.1), from the least
    /// severe to the most severe.
    #[doc(alias = "LogLevel")]
    pub enum LoggingLevel {
        /// Detailed information for debugging.
        Debug = "debug",
        /// Information about normal operation.
        #[default]
        Info = "info",
        /// A normal but significant event.
        Notice = "notice",
        /// A condition that may lead to an error.
        Warning = "warning",
        /// An operation failed.
        Error = "error",
        /// A component has failed.
        Critical = "critical",
        /// An operator must act at once.
        Alert = "alert",
        /// The system is unusable.
        Emergency = "emergency",
    }
}

/// Parameters of `logging/setLevel`, which sets the minimum severity of log messages (up to revision 2025-11-25).
#[derive(Debug, Serialize)]
#[doc(alias("logging/setLevel", "SetLevelRequest", "SetLevelRequestParams"))]
pub struct SetLevelParams<'a> {
    /// Minimum severity of the log messages that the server is to send. Servers reject levels that the specification
    /// does not define.
    pub level: &'a LoggingLevel,
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;
    use crate::Requirement;
    use crate::{Era, NameIssue, ProtocolVersion};

    #[test]
    fn names_are_padded_to_a_width() {
        assert_eq!(format!("{:8}|{:>8}", LoggingLevel::Info, LoggingLevel::Debug), "info    |   debug");
        assert_eq!(format!("{:8}|", Era::Modern), "modern  |");
        assert_eq!(format!("{:12}|", ProtocolVersion::V2026_07_28), "2026-07-28  |");
        assert_eq!(format!("{:8}|", Requirement::Tools), "tools   |");
        assert_eq!(format!("{:.8}", NameIssue::TooLong), "its name");
        assert_eq!(LoggingLevel::Other("a\u{1b}[31mb".into()).to_string(), "ab");
    }
}
