//! The messages that a scripted server has received.

use std::time::Duration;

use mcpwire_driver::protocol::Json;
use serde::de::DeserializeOwned;

/// A message that a scripted server has received.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedMessage {
    /// The time of arrival, since the clock of the connection started. In a [`Testkit`](crate::Testkit), the virtual time.
    pub at: Duration,
    /// The number of the connection, from 0.
    pub connection: usize,
    /// The method. Empty for an answer to a request of the server, and for a line that is not a message.
    pub method: String,
    /// The id, or `None` for a notification.
    pub id: Option<Json>,
    /// The parameters.
    pub params: Option<Json>,
    /// The complete message. A line that is not valid JSON is stored as a JSON string.
    pub message: Json,
}

impl RecordedMessage {
    pub(crate) fn new(at: Duration, connection: usize, line: &str) -> Self {
        let message = Json::parse(line).unwrap_or_else(|_| crate::wire::json(line));
        RecordedMessage {
            at,
            connection,
            method: message.member("method").unwrap_or_default(),
            // `null` is not the id of a request.
            id: message.member::<Option<Json>>("id").flatten(),
            params: message.member::<Option<Json>>("params").flatten(),
            message,
        }
    }

    /// Returns whether the message is a request.
    pub fn is_request(&self) -> bool {
        !self.method.is_empty() && self.id.is_some()
    }

    /// Returns whether the message is a notification.
    pub fn is_notification(&self) -> bool {
        !self.method.is_empty() && self.id.is_none()
    }

    /// Returns whether the message answers a request of the server. [`RecordedMessage::message`] contains its `result` or `error`.
    pub fn is_answer(&self) -> bool {
        self.method.is_empty() && self.id.is_some()
    }

    /// Returns a parameter, or `None` if it is missing or has another type.
    pub fn param<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.params.as_ref()?.member(name)
    }
}

/// A `notifications/cancelled` that the server has received: a request timed out, or its future was dropped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cancellation {
    /// The time of arrival, since the clock of the connection started.
    pub at: Duration,
    /// The id of the cancelled request, which is one of [`ScriptedServer::requests`](crate::ScriptedServer::requests).
    pub id: Json,
    /// The reason, if the client gives one.
    pub reason: Option<String>,
}

impl Cancellation {
    pub(crate) fn from_message(message: &RecordedMessage) -> Option<Self> {
        let id = message.param("requestId").filter(|_| message.method == CANCELLED && message.is_notification())?;
        Some(Cancellation { at: message.at, id, reason: message.param("reason") })
    }
}

const CANCELLED: &str = "notifications/cancelled";
