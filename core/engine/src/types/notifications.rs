//! Notifications about progress, and log messages.

use alloc::string::String;

use super::LoggingLevel;
use super::object::object;
use crate::json::Json;

object! {
    /// Progress of a request (`ProgressNotificationParams`).
    ///
    /// Specification: basic/patterns/progress.
    pub struct Progress("an object") {
        /// Token that identifies the request. The engine has already matched it.
        optional progress_token: Json = "progressToken",
        /// Progress so far. It increases with each notification.
        always progress: f64 = "progress",
        /// Value of `progress` at completion, if the server knows it.
        optional total: f64 = "total",
        /// Description of the current step.
        optional message: String = "message",
        /// Additional metadata of the notification (`_meta`).
        optional meta: Json = "_meta",
    }
}

impl Progress {
    /// Returns the completed fraction, from 0 to 1, or `None` if the total is unknown.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.filter(|total| *total > 0.0)?;
        Some((self.progress / total).clamp(0.0, 1.0))
    }
}

object! {
    /// A log message of a server (`LoggingMessageNotificationParams`).
    ///
    /// Specification: server/utilities/logging.
    pub struct LogMessage("an object") {
        /// Severity of the message.
        always level: LoggingLevel = "level",
        /// Name of the logger: the part of the server that logs.
        optional logger: String = "logger",
        /// The message: a string or any other JSON value.
        always data: Json = "data",
        /// Additional metadata of the notification (`_meta`).
        optional meta: Json = "_meta",
    }
}

impl LogMessage {
    /// Returns the message as text. A string is returned without quotes, any other value as JSON.
    pub fn text(&self) -> String {
        self.data.decode().unwrap_or_else(|_| self.data.get().into())
    }
}
