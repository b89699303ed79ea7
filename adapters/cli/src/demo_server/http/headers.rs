//! What the headers of a request must say: that it comes from here, and, in the modern era, what its body says.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::super::revision::{PROTOCOL_VERSION, Revision, UNSUPPORTED_VERSION};
use super::super::{Failure, tools};
use super::message::Request;
use crate::demo_server::base64;

pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const VERSION: &str = "mcp-protocol-version";

/// Whether a request may come from a page of this origin. A page of somewhere else may have had its name's address changed
/// to ours (2026-07-28, "Security & Endpoint").
pub(super) fn is_from_here(request: &Request) -> bool {
    let mut origins = request.list("origin");
    let Some(origin) = origins.next() else {
        return true;
    };
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(is_loopback) && origins.next().is_none()
}

/// Whether a host, with its port or without, is this machine and no other.
fn is_loopback(authority: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) => host,
        _ => authority,
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether the client reads both forms of an answer, as it must.
pub(super) fn accepts_both(request: &Request) -> bool {
    let mut accepted =
        request.list("accept").map(|range| range.split(';').next().unwrap_or_default().trim()).peekable();
    if accepted.peek().is_none() {
        return true;
    }
    let accepted: Vec<_> = accepted.map(str::to_ascii_lowercase).collect();
    let has = |full: &str, half: &str| accepted.iter().any(|range| [full, half, "*/*"].contains(&range.as_str()));
    has("application/json", "application/*") && has("text/event-stream", "text/*")
}

/// Whether the body says that it is JSON.
pub(super) fn sends_json(request: &Request) -> bool {
    let kind = request.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// The version that a message says it speaks.
pub(super) fn said_version(message: &Value) -> Option<&Value> {
    message.get("params")?.get("_meta")?.get(PROTOCOL_VERSION)
}

/// Holds the headers of a modern request against its body (2026-07-28, "Server Validation").
pub(super) fn check(request: &Request, message: &Value) -> Result<(), Failure> {
    let no_params = Map::new();
    let params = message.get("params").and_then(Value::as_object).unwrap_or(&no_params);
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    check_version(request, said_version(message))?;
    let is = required(request, "mcp-method")?;
    if is != method {
        return Err(mismatch("Mcp-Method", is, method));
    }
    let named = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        // The extension says so of its own requests.
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return Ok(()),
    };
    let Some(name) = params.get(named).and_then(Value::as_str) else {
        // The request fails for that.
        return Ok(());
    };
    let is = decoded("Mcp-Name", required(request, "mcp-name")?)?;
    if is != name {
        return Err(mismatch("Mcp-Name", &is, name));
    }
    if method == "tools/call" { check_arguments(request, name, params.get("arguments")) } else { Ok(()) }
}

fn check_version(request: &Request, said: Option<&Value>) -> Result<(), Failure> {
    let version = required(request, VERSION)?;
    match said {
        Some(said) if said == version => Ok(()),
        None if !Revision::ALL.iter().any(|known| known.as_str() == version) => Err(unsupported(version)),
        None => Err(mismatch("MCP-Protocol-Version", version, "")),
        Some(said) => Err(mismatch("MCP-Protocol-Version", version, said.as_str().unwrap_or_default())),
    }
}

pub(super) fn unsupported(version: &str) -> Failure {
    Failure::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with_data(json!({
        "supported": Revision::ALL.map(Revision::as_str),
        "requested": version,
    }))
}

/// The arguments that the tool's schema wants to see in headers, `x-mcp-header`. No tool here has them anywhere but among
/// its own properties.
fn check_arguments(request: &Request, tool: &str, arguments: Option<&Value>) -> Result<(), Failure> {
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
        let is = request.header(&header.to_ascii_lowercase()).map(|value| decoded(&header, value)).transpose()?;
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

fn required<'a>(request: &'a Request, name: &str) -> Result<&'a str, Failure> {
    request
        .header(name)
        .ok_or_else(|| Failure::new(HEADER_MISMATCH, format!("Header mismatch: {name} must be there, once")))
}

/// What a value stands for: itself, or the text in it as base64.
fn decoded(name: &str, value: &str) -> Result<String, Failure> {
    let Some(encoded) = value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) else {
        return if value.is_ascii() { Ok(value.into()) } else { Err(invalid(name)) };
    };
    base64::decode(encoded).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| invalid(name))
}

fn invalid(name: &str) -> Failure {
    Failure::new(HEADER_MISMATCH, format!("Header mismatch: {name} has characters that it may not have"))
}

fn mismatch(name: &str, header: &str, body: &str) -> Failure {
    let message = format!("Header mismatch: {name} header value '{header}' does not match body value '{body}'");
    Failure::new(HEADER_MISMATCH, message)
}
