//! Notifications about progress, log messages and their levels, and the request `logging/setLevel`. Specification of
//! revision 2025-11-25: server/utilities/logging, "Setting Log Level".
//!
//! From revision 2026-07-28 on, each request sets its own log level in `_meta`.

use alloc::string::String;

use serde::Serialize;

use mcpwire_text::json::{Json, Number, from_json};
use mcpwire_text::object;
use mcpwire_text::open_enum;

object! {
    /// Parameters of `notifications/progress`: the progress of a request (`ProgressNotificationParams`).
    ///
    /// Specification: basic/patterns/progress.
    #[doc(alias("notifications/progress", "ProgressNotification", "ProgressNotificationParams"))]
    pub struct Progress("an object") {
        /// Progress token that the client sent in the request whose progress the server reports.
        ///
        /// Applications can identify the request by the `RequestKey` in
        /// `Notification::Progress` instead.
        optional progress_token: Json = "progressToken",
        /// Amount of work done so far, in a unit that the server chooses. The amount increases with each notification.
        always progress: Number = "progress",
        /// Value that `progress` will have when the request is complete. `None` if the server does not know the value.
        optional total: Number = "total",
        /// Description of the current step of the request, for display.
        optional message: String = "message",
        /// Additional metadata of the progress notification (`_meta`).
        optional meta: Json = "_meta",
    }
}

impl Progress {
    /// Returns the completed fraction of the work: `progress` divided by `total`, limited to the range from 0 to 1.
    /// Returns `None` if the total is unknown or not positive, or if both numbers exceed the range of `f64`.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.as_ref().map(Number::as_f64).filter(|total| *total > 0.0)?;
        let fraction = self.progress.as_f64() / total;
        // A server can send numbers that exceed the range of `f64`.
        (!fraction.is_nan()).then(|| fraction.clamp(0.0, 1.0))
    }
}

object! {
    /// Parameters of `notifications/message`: a log message of a server (`LoggingMessageNotificationParams`).
    ///
    /// Specification: server/utilities/logging.
    #[doc(alias("notifications/message", "LoggingMessageNotification", "LoggingMessageNotificationParams"))]
    pub struct LogMessage("an object") {
        /// Severity of the log message.
        always level: LoggingLevel = "level",
        /// Name of the logger: the part of the server that wrote the log message.
        optional logger: String = "logger",
        /// Content of the log message: a string or any other JSON value.
        always data: Json = "data",
        /// Additional metadata of the log notification (`_meta`).
        optional meta: Json = "_meta",
    }
}

impl LogMessage {
    /// Returns the content of the log message as text: the text of a JSON string, or any other value as JSON.
    pub fn text(&self) -> String {
        from_json::from_str(self.data.get()).unwrap_or_else(|| self.data.get().into())
    }
}

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
