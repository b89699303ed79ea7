//! Functions that write the JSON-RPC messages of a scripted server as text.

use mcpwire_driver::protocol::{Json, RpcError};
use serde::Serialize;

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
