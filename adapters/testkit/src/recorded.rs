//! What a scripted server was sent.

use std::time::Duration;

use mcpwire_driver::core::{Json, RpcError};
use serde::de::DeserializeOwned;

/// A message that a client sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recorded {
    /// When it came, by the clock of its connection. In virtual time: what had passed of it.
    pub at: Duration,
    /// Over which connection, counted from 0. Over HTTP, each request is one.
    pub connection: usize,
    /// Its method; empty for the answer to a request of the server's, and for what is no message.
    pub method: String,
    /// Its id; a notification has none.
    pub id: Option<Json>,
    /// Its parameters.
    pub params: Option<Json>,
    /// All of it. A line that is no JSON is a string in here.
    pub message: Json,
}

impl Recorded {
    pub(crate) fn new(at: Duration, connection: usize, line: &str) -> Self {
        let message = Json::parse(line).unwrap_or_else(|_| crate::wire::json(line));
        Recorded {
            at,
            connection,
            method: message.member("method").unwrap_or_default(),
            // Of an object that has none, and of one whose id is `null`, which names no request.
            id: message.member::<Option<Json>>("id").flatten(),
            params: message.member::<Option<Json>>("params").flatten(),
            message,
        }
    }

    /// Whether it wants an answer.
    pub fn is_request(&self) -> bool {
        !self.method.is_empty() && self.id.is_some()
    }

    /// Whether it wants none.
    pub fn is_notification(&self) -> bool {
        !self.method.is_empty() && self.id.is_none()
    }

    /// Whether it answers a request of the server's. Its `result` or `error` is a member of [`Recorded::message`].
    pub fn is_answer(&self) -> bool {
        self.method.is_empty() && self.id.is_some()
    }

    /// Returns what the client answers to a request of the server's: the result, or the error.
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

    /// The parameter `name`, if it is there and of that type.
    pub fn param<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.params.as_ref()?.member(name)
    }
}

/// A request that the client gave up: it timed out, or its future was dropped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cancellation {
    /// When the server was told, by the clock of its connection.
    pub at: Duration,
    /// The id of the request: that of one of [`ScriptedServer::requests`](crate::ScriptedServer::requests).
    pub id: Json,
    /// Why, where the client says so.
    pub reason: Option<String>,
}

impl Cancellation {
    pub(crate) fn of(message: &Recorded) -> Option<Self> {
        let id = message.param("requestId").filter(|_| message.method == CANCELLED && message.is_notification())?;
        Some(Cancellation { at: message.at, id, reason: message.param("reason") })
    }
}

const CANCELLED: &str = "notifications/cancelled";
