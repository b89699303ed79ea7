//! Checks the headers of an HTTP request: the origin, the media types and, in the modern era, whether they match the body.

use std::net::IpAddr;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::STANDARD as BASE64;
use ::http::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

use crate::revision::{PROTOCOL_VERSION, Revision, unsupported};
use crate::rpc::Failure;
use crate::tools;

pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const VERSION: &str = "mcp-protocol-version";
pub(super) const SESSION: &str = "mcp-session-id";

/// Returns the value of a header, or `None` if the header is absent or occurs more than once.
pub(super) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    str::from_utf8(value.as_bytes()).ok().map(str::trim)
}

/// Returns the elements of a header that contains a comma-separated list, in order.
fn list<'a>(headers: &'a HeaderMap, name: &'a HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter().filter_map(|value| str::from_utf8(value.as_bytes()).ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Returns whether a request comes from a web page of this machine, or not from a web page at all.
///
/// Without this check, a web page of another host could reach the server by DNS rebinding (2026-07-28, basic/transports,
/// "Security").
pub(super) fn is_from_here(headers: &HeaderMap) -> bool {
    let mut origins = list(headers, &::http::header::ORIGIN);
    let Some(origin) = origins.next() else {
        return true;
    };
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(is_loopback) && origins.next().is_none()
}

/// Returns whether a host is a loopback name or address. The host may have a port.
fn is_loopback(authority: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        _ => authority,
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns whether the client accepts both JSON and event streams, as the specification requires. Without the header `Accept`,
/// the client accepts everything.
pub(super) fn accepts_both(headers: &HeaderMap) -> bool {
    headers.get(::http::header::ACCEPT).is_none()
        || accepts(headers, "application/json", "application/*") && accepts_events(headers)
}

pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    accepts(headers, "text/event-stream", "text/*")
}

fn accepts(headers: &HeaderMap, exact: &str, family: &str) -> bool {
    list(headers, &::http::header::ACCEPT)
        .map(|range| range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .any(|range| [exact, family, "*/*"].contains(&range.as_str()))
}

/// Returns whether the `Content-Type` of a request is JSON.
pub(super) fn sends_json(headers: &HeaderMap) -> bool {
    let media_type = single(headers, "content-type").and_then(|media_type| media_type.split(';').next());
    media_type.unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// Returns the protocol version in the `_meta` of a message, or `None` if the message does not have it.
pub(super) fn body_version(message: &Value) -> Option<&Value> {
    message.get("params")?.get("_meta")?.get(PROTOCOL_VERSION)
}

/// Checks that the headers of a modern request match its body (2026-07-28, basic/transports, "Server Validation").
pub(super) fn check(headers: &HeaderMap, message: &Value) -> Result<(), Failure> {
    let no_params = Map::new();
    let params = message.get("params").and_then(Value::as_object).unwrap_or(&no_params);
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    check_version(headers, body_version(message))?;
    let is = required(headers, "mcp-method")?;
    if is != method {
        return Err(mismatch("Mcp-Method", is, method));
    }
    let named = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        // The tasks extension requires the task id in this header.
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    let Some(name) = params.get(named).and_then(Value::as_str) else {
        // The server itself refuses a request without this name.
        return Ok(());
    };
    let is = decoded("Mcp-Name", required(headers, "mcp-name")?)?;
    if is != name {
        return Err(mismatch("Mcp-Name", &is, name));
    }
    if method == "tools/call" { check_arguments(headers, name, params.get("arguments")) } else { Ok(()) }
}

fn check_version(headers: &HeaderMap, said: Option<&Value>) -> Result<(), Failure> {
    let version = required(headers, VERSION)?;
    match said {
        Some(said) if said == version => Ok(()),
        None if !Revision::ALL.iter().any(|known| known.as_str() == version) => Err(unsupported(version)),
        None => Err(mismatch("MCP-Protocol-Version", version, "")),
        Some(said) => Err(mismatch("MCP-Protocol-Version", version, said.as_str().unwrap_or_default())),
    }
}

/// Checks that the arguments of a tool call match their headers, if their schema has `x-mcp-header`. In this server, only
/// top-level properties have it.
fn check_arguments(headers: &HeaderMap, tool: &str, arguments: Option<&Value>) -> Result<(), Failure> {
    let tools = tools::list(Revision::V2026_07_28);
    let tool = tools.iter().find(|known| known["name"] == tool);
    let properties = tool.and_then(|tool| tool["inputSchema"]["properties"].as_object());
    for (property, schema) in properties.into_iter().flatten() {
        let Some(name) = schema.get("x-mcp-header").and_then(Value::as_str) else {
            continue;
        };
        let header = format!("Mcp-Param-{name}");
        let argument = arguments.and_then(|arguments| arguments.get(property));
        let expected = match argument {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Bool(is)) => Some(is.to_string()),
            _ => None,
        };
        let is = single(headers, &header).map(|value| decoded(&header, value)).transpose()?;
        match (expected, is) {
            (Some(expected), Some(is)) if is == expected => {}
            (None, None) => {}
            (expected, is) => {
                return Err(mismatch(&header, &is.unwrap_or_default(), &expected.unwrap_or_default()));
            }
        }
    }
    Ok(())
}

fn required<'a>(headers: &'a HeaderMap, name: &str) -> Result<&'a str, Failure> {
    single(headers, name)
        .ok_or_else(|| Failure::new(HEADER_MISMATCH, format!("Header mismatch: {name} must be there, once")))
}

/// Decodes the value of a header, which is plain ASCII or base64 between `=?base64?` and `?=`.
fn decoded(name: &str, value: &str) -> Result<String, Failure> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return if value.is_ascii() { Ok(value.into()) } else { Err(invalid(name)) };
    };
    BASE64.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| invalid(name))
}

fn invalid(name: &str) -> Failure {
    Failure::new(HEADER_MISMATCH, format!("Header mismatch: {name} has characters that it may not have"))
}

fn mismatch(name: &str, header: &str, body: &str) -> Failure {
    let message = format!("Header mismatch: {name} header value '{header}' does not match body value '{body}'");
    Failure::new(HEADER_MISMATCH, message)
}
