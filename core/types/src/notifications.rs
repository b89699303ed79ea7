//! Notifications about progress, and log messages.

use alloc::string::String;

use crate::LoggingLevel;
use mcpwire_text::json::{Json, Number, from_json};
use mcpwire_text::object;

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
