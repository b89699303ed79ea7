//! The JSON-RPC messages of a scripted server as text, and the messages that it has received ([`RecordedMessage`]).

use std::time::Duration;

use mcpwire_driver::protocol::{Json, RpcError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Serializes a value as JSON without line breaks, because each message must be one line.
///
/// # Panics
///
/// If the value cannot be serialized as JSON.
pub(crate) fn json(value: &(impl Serialize + ?Sized)) -> Json {
    match Json::from_value(value) {
        // JSON has line breaks only between tokens, where a space is equivalent.
        Ok(json) if json.get().contains(['\n', '\r']) => trusted(json.get().replace(['\n', '\r'], " ")),
        Ok(json) => json,
        Err(error) => panic!("a server cannot say what is no JSON: {error}"),
    }
}

/// Returns the id of the next request to a client, such as `server-1`. Increments `last`, the number of the last request.
pub(crate) fn next_request_id(last: &mut u64) -> Json {
    *last += 1;
    json(&format!("server-{last}"))
}

pub(crate) fn result(id: &Json, result: &Json) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Writes a response whose result has `resultType: "complete"` (2026-07-28, basic/index, "Result Responses").
pub(crate) fn complete_result(id: &Json, object: &Json) -> String {
    let members = object.get().strip_prefix('{').unwrap_or_default();
    let comma = if members.starts_with('}') { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete"{comma}{members}}}"#)
}

pub(crate) fn error(id: &Json, error: &RpcError) -> String {
    let (code, message) = (error.code, json(&error.message));
    let data = error.data.as_ref().map(|data| format!(r#","data":{data}"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
}

/// Writes a notification. If `params` is `null`, the message has no member `params`.
pub(crate) fn notification(method: &str, params: &Json) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{}{}}}"#, json(method), params_member(params))
}

/// Writes a request. If `params` is `null`, the message has no member `params`.
pub(crate) fn request(id: &Json, method: &str, params: &Json) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{}{}}}"#, json(method), params_member(params))
}

pub(crate) fn progress(token: &Json, progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let total = total.map(|total| format!(r#","total":{}"#, json(&total))).unwrap_or_default();
    let message = message.map(|message| format!(r#","message":{}"#, json(message))).unwrap_or_default();
    let params = format!(r#"{{"progressToken":{token},"progress":{}{total}{message}}}"#, json(&progress));
    notification("notifications/progress", &trusted(params))
}

pub(crate) fn text_result(text: &str, is_error: bool) -> Json {
    trusted(format!(r#"{{"content":[{{"type":"text","text":{}}}],"isError":{is_error}}}"#, json(text)))
}

/// Writes an `input_required` result. Omits `inputRequests` if there are no requests, and `requestState` if there is no state.
pub(crate) fn input_required(requests: &Json, state: Option<&str>) -> Json {
    let requests = if requests.get() == "{}" { String::new() } else { format!(r#","inputRequests":{requests}"#) };
    let state = state.map(|state| format!(r#","requestState":{}"#, json(state))).unwrap_or_default();
    trusted(format!(r#"{{"resultType":"input_required"{requests}{state}}}"#))
}

/// Converts a text that is known to be valid JSON to [`Json`].
pub(crate) fn trusted(text: String) -> Json {
    Json::parse(text).unwrap_or_default()
}

fn params_member(params: &Json) -> String {
    if params.get() == "null" { String::new() } else { format!(r#","params":{params}"#) }
}

// Messages that a scripted server has received.

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
        let message = Json::parse(line).unwrap_or_else(|_| json(line));
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
