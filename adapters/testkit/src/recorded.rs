//! [`RecordedMessage`]: a message that a scripted server has received.

use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError};
use serde::de::DeserializeOwned;

/// A message that a [`ScriptedServer`](crate::ScriptedServer) has received from a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedMessage {
    /// The time of arrival, by the clock of the server's runtime. In virtual time, this is the elapsed time.
    pub at: Duration,
    /// The number of the connection over which the message arrived, starting at 0. Over HTTP, each request is a connection.
    pub connection: usize,
    /// The method of the request or notification. Empty for responses to requests of the server, and for invalid lines.
    pub method: String,
    /// The id of a request or response. `None` for notifications and invalid lines.
    pub id: Option<Json>,
    /// The parameters (`params`). `None` if the message has none.
    pub params: Option<Json>,
    /// The whole message. A line that is not JSON is recorded as a JSON string.
    pub message: Json,
}

impl RecordedMessage {
    pub(crate) fn new(at: Duration, connection: usize, line: &str) -> Self {
        let message = Json::parse(line).unwrap_or_else(|_| crate::wire::json(line));
        RecordedMessage {
            at,
            connection,
            method: message.member("method").unwrap_or_default(),
            // A message without an id, or with the id `null`, is no request.
            id: message.member::<Option<Json>>("id").flatten(),
            params: message.member::<Option<Json>>("params").flatten(),
            message,
        }
    }

    /// Returns whether this message is a request: it has a method and an id.
    pub fn is_request(&self) -> bool {
        !self.method.is_empty() && self.id.is_some()
    }

    /// Returns whether this message is a notification: it has a method and no id.
    pub fn is_notification(&self) -> bool {
        !self.method.is_empty() && self.id.is_none()
    }

    /// Returns whether this message is a response to a request of the server. [`RecordedMessage::message`] contains its `result`
    /// or `error`.
    pub fn is_answer(&self) -> bool {
        self.method.is_empty() && self.id.is_some()
    }

    /// Returns the result or the error of this response to a request of the server. The result of a response with neither is
    /// `null`.
    pub(crate) fn answer(&self) -> Result<Json, RpcError> {
        match self.message.member::<Json>("error") {
            Some(error) => {
                let message: String = error.member("message").unwrap_or_default();
                let mut answer = RpcError::new(error.member("code").unwrap_or_default(), message);
                answer.data = error.member("data");
                Err(answer)
            }
            None => Ok(self.message.member("result").unwrap_or_default()),
        }
    }

    /// Returns the parameter `name`, or `None` if the message does not have it or if it is not of the type `T`.
    pub fn param<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.params.as_ref()?.member(name)
    }
}

/// A notification by which a client cancels a request, because the request timed out or its future was dropped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cancellation {
    /// The time of arrival, by the clock of the server's runtime.
    pub at: Duration,
    /// The id of the cancelled request. [`ScriptedServer::requests`](crate::ScriptedServer::requests) contains the request.
    pub id: Json,
    /// The reason that the client gave. `None` if it gave no reason.
    pub reason: Option<String>,
}

impl Cancellation {
    pub(crate) fn of(message: &RecordedMessage) -> Option<Self> {
        let id = message.param("requestId").filter(|_| message.method == CANCELLED && message.is_notification())?;
        Some(Cancellation { at: message.at, id, reason: message.param("reason") })
    }
}

const CANCELLED: &str = "notifications/cancelled";
