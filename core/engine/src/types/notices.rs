//! Notifications of progress and log messages.

use alloc::string::String;

use super::LoggingLevel;
use super::object::object;
use crate::json::{Json, Number};

object! {
    /// The progress of a request (2026-07-28, basic/patterns/progress).
    pub struct Progress("an object") {
        /// The token that names the request. The engine has matched it already.
        optional progress_token: Json = "progressToken",
        /// How much is done. Grows from one notification to the next.
        always progress: Number = "progress",
        /// How much there is to do, if the server knows it.
        optional total: Number = "total",
        /// What is being done, in words.
        optional message: String = "message",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl Progress {
    /// Returns the fraction that is done, from 0 to 1, or `None` if the total is not known.
    pub fn fraction(&self) -> Option<f64> {
        let total = self.total.as_ref().map(Number::as_f64).filter(|total| *total > 0.0)?;
        let fraction = self.progress.as_f64() / total;
        (!fraction.is_nan()).then_some(fraction.clamp(0.0, 1.0))
    }
}

object! {
    /// A log message (2026-07-28, server/utilities/logging).
    pub struct LogMessage("an object") {
        /// The severity.
        always level: LoggingLevel = "level",
        /// The part of the server that logs.
        optional logger: String = "logger",
        /// The message: a string or any other value.
        always data: Json = "data",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl LogMessage {
    /// Returns the message as text: a string without its quotes, any other value as JSON.
    pub fn text(&self) -> String {
        self.data.decode().unwrap_or_else(|_| self.data.get().into())
    }
}
