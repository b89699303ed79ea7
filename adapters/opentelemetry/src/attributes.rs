//! Converts requests, connections and outcomes to the span names, attributes and statuses of the semantic conventions for MCP.

use mcpwire_client::{ConnectionInfo, RequestInfo, RequestOutcome, Transport};
use opentelemetry::trace::{SpanRef, Status};
use opentelemetry::{Key, KeyValue};

const METHOD: Key = Key::from_static_str("mcp.method.name");
const PROTOCOL_VERSION: Key = Key::from_static_str("mcp.protocol.version");
const RESOURCE: Key = Key::from_static_str("mcp.resource.uri");
const TOOL: Key = Key::from_static_str("gen_ai.tool.name");
const PROMPT: Key = Key::from_static_str("gen_ai.prompt.name");
const OPERATION: Key = Key::from_static_str("gen_ai.operation.name");
const REQUEST_ID: Key = Key::from_static_str("jsonrpc.request.id");
const STATUS_CODE: Key = Key::from_static_str("rpc.response.status_code");
const ERROR_TYPE: Key = Key::from_static_str("error.type");
const NETWORK_TRANSPORT: Key = Key::from_static_str("network.transport");
const NETWORK_PROTOCOL: Key = Key::from_static_str("network.protocol.name");

pub(crate) const CALL_TOOL: &str = "tools/call";

/// Returns the attributes of a tool call that are known before the call is sent: its method, tool and operation.
pub(crate) fn of_tool_call(tool: &str) -> Vec<KeyValue> {
    vec![
        KeyValue::new(METHOD, CALL_TOOL),
        KeyValue::new(TOOL, tool.to_owned()),
        KeyValue::new(OPERATION, "execute_tool"),
    ]
}

/// Returns the attributes of a connection: the protocol version, and the network transport if it is known.
pub(crate) fn of_connection(connection: &ConnectionInfo) -> Vec<KeyValue> {
    let mut attributes = Vec::with_capacity(8);
    if let Some(version) = connection.protocol_version {
        attributes.push(KeyValue::new(PROTOCOL_VERSION, version.as_str()));
    }
    match connection.transport {
        Transport::Stdio => attributes.push(KeyValue::new(NETWORK_TRANSPORT, "pipe")),
        Transport::Http => {
            attributes.push(KeyValue::new(NETWORK_TRANSPORT, "tcp"));
            attributes.push(KeyValue::new(NETWORK_PROTOCOL, "http"));
        }
        // The program has created these streams, so their network transport is unknown.
        _ => {}
    }
    attributes
}

/// Returns the attributes that both the span and the histogram of a request have.
pub(crate) fn of_request(request: &RequestInfo) -> Vec<KeyValue> {
    let mut attributes = of_connection(&request.connection);
    if let Some(tool) = request.tool() {
        attributes.extend(of_tool_call(tool));
        return attributes;
    }
    attributes.push(KeyValue::new(METHOD, request.method.clone()));
    attributes.extend(request.prompt().map(|prompt| KeyValue::new(PROMPT, prompt.to_owned())));
    attributes
}

/// Returns the attributes that only the span of a request has: the request id and the resource URI. They have too many different
/// values for a histogram.
pub(crate) fn of_span(request: &RequestInfo) -> Vec<KeyValue> {
    let mut attributes = vec![KeyValue::new(REQUEST_ID, request.id.to_string())];
    if request.method.starts_with("resources/") {
        attributes.extend(request.target.clone().map(|uri| KeyValue::new(RESOURCE, uri)));
    }
    attributes
}

/// Returns the name of the span of a request: the method, followed by the name of the tool or prompt if there is one.
pub(crate) fn span_name(request: &RequestInfo) -> String {
    match request.tool().or(request.prompt()) {
        Some(target) => format!("{} {target}", request.method),
        None => request.method.clone(),
    }
}

/// Returns the error attributes of a failed request. Returns an empty list if the request has succeeded.
pub(crate) fn of_outcome(outcome: &RequestOutcome) -> Vec<KeyValue> {
    match outcome {
        RequestOutcome::Ok => Vec::new(),
        RequestOutcome::ToolFailed => vec![error_type("tool_error")],
        RequestOutcome::Refused(code) => {
            let code = code.to_string();
            vec![KeyValue::new(STATUS_CODE, code.clone()), KeyValue::new(ERROR_TYPE, code)]
        }
        RequestOutcome::Failed(kind) => vec![error_type(kind.as_str())],
        _ => vec![error_type("_OTHER")],
    }
}

/// Returns the attribute `error.type`, with the class of an error as its value.
pub(crate) fn error_type(name: &'static str) -> KeyValue {
    KeyValue::new(ERROR_TYPE, name)
}

/// Returns the status of the span of a request. The status is unset if the request has succeeded, and otherwise an error with a
/// description.
pub(crate) fn status(outcome: &RequestOutcome) -> Status {
    match outcome {
        RequestOutcome::Ok => Status::Unset,
        RequestOutcome::ToolFailed => Status::error("the tool failed"),
        RequestOutcome::Refused(code) => Status::error(format!("the server responded with the error {code}")),
        RequestOutcome::Failed(kind) => Status::error(format!("the request failed: {}", kind.as_str())),
        _ => Status::error("the request failed"),
    }
}

/// Adds attributes to a span that was already started.
pub(crate) fn set_attributes(span: &SpanRef<'_>, attributes: impl IntoIterator<Item = KeyValue>) {
    for attribute in attributes {
        span.set_attribute(attribute);
    }
}
