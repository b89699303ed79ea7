//! [`ToolCalls`]: updates the custom headers of tool calls when the server's tools change. [`ToolHeaders`]: the tools whose
//! arguments are also sent in headers, and the tools that are idempotent.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters"
//! and "Client Behavior".

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::command::ExchangeId;
use super::exchanges::OpenExchange;
use super::header_values::{Headers, encode_value};
use super::request::{Purpose, Request, ToolRefresh};
use super::transport::Transport;
use crate::header_params::{HeaderParam, header_params};
use crate::rpc::{Response, RpcError, decode, write};
use crate::session::{RequestFault, is_reading};
use mcpwire_text::json::Json;
use mcpwire_text::json::read::unescape_lossy;
use mcpwire_text::json::scan::{self, key_text, last_member, member, text};
use mcpwire_types::ListParams;

/// Maximum number of pages of the tool list to request for one tool call: 100, more than any known server has.
const MAX_PAGES: u32 = 100;

/// Sets the `Mcp-Param-*` headers of tool calls. When a server rejects the headers of a tool call, fetches the tool
/// list again, because the parameters of the tool may have changed.
#[derive(Default)]
pub(super) struct ToolCalls {
    headers: ToolHeaders,
    /// The number of the last exchange with an earlier authorization. 0 if the authorization has not changed.
    outdated: u64,
}

impl ToolCalls {
    /// Sets the `Mcp-Param-*` headers of a tool call, and whether any request is repeatable.
    ///
    /// For a tool call, both depend on the tool's entry in the tool lists that the server has sent.
    pub(super) fn prepare(&self, request: &mut Request, transport: &Transport) {
        if request.message.is_none() {
            return;
        }
        if transport.endpoint.is_modern() && request.is_tool_call() {
            request.header_params = self.headers.headers_of(request.params());
        }
        request.head.is_repeatable |= self.headers.is_repeatable(request.method(), request.params());
    }

    /// Forgets the tools, because another authorization may have others. `last` is the number of the last
    /// exchange that was started.
    pub(super) fn authorization_changed(&mut self, last: u64) {
        *self = ToolCalls { headers: ToolHeaders::default(), outdated: last };
    }

    /// Stores the tools if `message` is a tool list. If `message` rejects the headers of a tool call, fetches the tool
    /// list again.
    ///
    /// Returns `false` if the caller must still pass the message to the session.
    pub(super) fn receive(
        &mut self,
        from: ExchangeId,
        response: Response,
        message: &[u8],
        transport: &mut Transport,
    ) -> bool {
        let Some(exchange) = transport.exchanges.get(from) else { return false };
        match &exchange.purpose {
            Purpose::Request(request) if request.method() == "tools/list" => {
                if from.0 > self.outdated {
                    self.headers.read_page(response.result(message), None);
                }
                false
            }
            Purpose::Request(call) if transport.endpoint.is_modern() && call.is_tool_call() && !call.was_resent => {
                let Some(error) = header_mismatch(message, response, call.id) else { return false };
                let call = call.clone();
                transport.abort(from);
                refresh_tools(call, error, transport);
                true
            }
            Purpose::RefreshTools(refresh) if response.id == refresh.list_request => {
                // Further messages of the same exchange are not needed.
                if let Some(OpenExchange { purpose: Purpose::RefreshTools(refresh), .. }) = transport.abort(from) {
                    let page = response.result(message);
                    let tool = member(refresh.call.params(), "name").and_then(text);
                    let is_found = self.headers.read_page(page, tool.as_deref());
                    let next_page = page.and_then(|page| member(page, "nextCursor").and_then(text));
                    let is_needed = !is_found && refresh.pages < MAX_PAGES;
                    let next_page = next_page.as_deref().filter(|_| is_needed);
                    self.continue_refresh(*refresh, next_page, transport);
                }
                true
            }
            _ => false,
        }
    }

    /// Continues with a tool call that waits for the tool list, after a `tools/list` request for it has ended. Requests the
    /// page after the cursor `next_page`. Without one, sends the call again if the new tool list leads to other headers than
    /// the rejected ones, and otherwise fails the call.
    pub(super) fn continue_refresh(&self, refresh: ToolRefresh, next_page: Option<&str>, transport: &mut Transport) {
        if next_page.is_some() && transport.session.waits_for(refresh.call.id) {
            return request_page(refresh, next_page, transport);
        }
        let ToolRefresh { call, error, .. } = refresh;
        if self.headers.headers_of(call.params()) == call.header_params {
            transport.session.fail(call.id, RequestFault::Server(error));
        } else {
            transport.queue.resend.push_back(call);
        }
    }
}

/// Fetches the tool list again, because the server rejected the headers of the tool call `call` with `error`.
///
/// If the engine has no copy of the message to send again, the call fails with `error` instead.
pub(super) fn refresh_tools(call: Request, error: RpcError, transport: &mut Transport) {
    if call.message.is_none() {
        transport.session.fail(call.id, RequestFault::Server(error));
    } else {
        let call = Request { was_resent: true, ..call };
        request_page(ToolRefresh { call, error, list_request: 0, pages: 0 }, None, transport);
    }
}

/// Requests the page of the tool list after `cursor`. `None` requests the first page.
fn request_page(refresh: ToolRefresh, cursor: Option<&str>, transport: &mut Transport) {
    let params = |out: &mut Vec<u8>| write::push_object(out, &ListParams { cursor });
    let (list_request, message) = transport.session.write_own("tools/list", &params);
    let refresh = ToolRefresh { list_request, pages: refresh.pages + 1, ..refresh };
    transport.post(Purpose::RefreshTools(Box::new(refresh)), message);
}

/// Returns the JSON-RPC error in `message` if it rejects the headers of the request with the JSON-RPC id `id`.
/// Otherwise returns `None`.
fn header_mismatch(message: &[u8], response: Response, id: u64) -> Option<RpcError> {
    let has_result = || response.result(message).is_some_and(|result| result.trim_ascii_start().first() != Some(&b'n'));
    if response.id != id || has_result() {
        return None;
    }
    member(message, "error")?;
    match decode::answer::<Json>(message, response) {
        Err(RequestFault::Server(error)) if error.code == RpcError::HEADER_MISMATCH => Some(error),
        _ => None,
    }
}

/// Maximum number of stored tools: 10,000, ten times as many as the largest known servers have.
const MAX_TOOLS: usize = 10_000;

/// The tools, by name, that are idempotent or have parameters which the client also sends as `Mcp-Param-*` headers.
#[derive(Default)]
pub(super) struct ToolHeaders {
    tools: BTreeMap<String, KnownTool>,
}

#[derive(Default)]
struct KnownTool {
    params: Vec<HeaderParam>,
    is_idempotent: bool,
}

impl ToolHeaders {
    /// Updates the stored tools from a page of the tool list. Returns whether that page contains a tool with the name
    /// `wanted`. `page` is `None` if the server responded with an error.
    pub(super) fn read_page(&mut self, page: Option<&[u8]>, wanted: Option<&str>) -> bool {
        let Some(tools) = page.and_then(|page| member(page, "tools")) else { return false };
        let (mut is_found, mut at) = (false, 0);
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            let Some([b'"', name @ .., b'"']) = member(tool, "name") else { continue };
            let name = key_text(name).into_owned();
            is_found |= wanted == Some(name.as_str());
            let known = read_tool(tool);
            if known.params.is_empty() && !known.is_idempotent {
                self.tools.remove(&name);
            } else if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&name) {
                self.tools.insert(name, known);
            }
        }
        is_found
    }

    /// Returns the names and values of the `Mcp-Param-*` headers for a `tools/call` with these parameters, a JSON object
    /// whose closing brace may be missing. Empty if no stored tool has the name in the parameters.
    pub(super) fn headers_of(&self, params: &[u8]) -> Headers {
        match self.called(params) {
            Some(tool) => headers(&tool.params, member(params, "arguments").unwrap_or_default()),
            None => Vec::new(),
        }
    }

    /// Returns whether no harm is done if the server carries out the request twice: the request only reads, or calls a
    /// tool that the server has declared idempotent.
    pub(super) fn is_repeatable(&self, method: &str, params: &[u8]) -> bool {
        match method {
            "tools/call" => self.called(params).is_some_and(|tool| tool.is_idempotent),
            method => is_reading(method),
        }
    }

    fn called(&self, params: &[u8]) -> Option<&KnownTool> {
        self.tools.get(&member(params, "name").and_then(text)?)
    }
}

fn read_tool(tool: &[u8]) -> KnownTool {
    let schema = member(tool, "inputSchema").unwrap_or_default();
    let annotations = member(tool, "annotations").unwrap_or_default();
    KnownTool {
        // The client removes tools with invalid annotations from tool lists. A call of such a tool has no custom
        // headers.
        params: header_params(schema).unwrap_or_default(),
        is_idempotent: member(annotations, "idempotentHint") == Some(b"true"),
    }
}

/// Returns the `Mcp-Param-*` headers for the arguments of a tool call. An argument that is missing, `null`, an array or
/// an object has no header.
fn headers(params: &[HeaderParam], arguments: &[u8]) -> Headers {
    let header = |param: &HeaderParam| {
        let value = param.path.iter().try_fold(arguments, |object, name| last_member(object, name))?;
        Some((param.header.clone().into(), encode_value(&header_text(value)?).into_owned()))
    };
    params.iter().filter_map(header).collect()
}

/// Converts a JSON value to the unencoded text of a header. Returns `None` for arrays, objects and `null`.
///
/// Specification: basic/transports/streamable-http, "Value Encoding".
fn header_text(json: &[u8]) -> Option<Cow<'_, str>> {
    let text = core::str::from_utf8(json).ok()?;
    match json.first()? {
        b'"' => Some(Cow::Owned(unescape_lossy(text.strip_prefix('"')?.strip_suffix('"')?))),
        b't' | b'f' => Some(Cow::Borrowed(text)),
        b'-' | b'0'..=b'9' => Some(decimal(text)),
        _ => None,
    }
}

/// Converts a whole JSON number, such as `1e3` or `42.0`, to decimal digits.
///
/// Returns the text unchanged if the number is not whole, or if it is too large for JavaScript to represent it exactly.
fn decimal(text: &str) -> Cow<'_, str> {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if !text.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(text);
    }
    match text.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "the result is compared with the original")]
        #[expect(clippy::cast_precision_loss, reason = "larger numbers are excluded")]
        #[expect(clippy::float_cmp, reason = "whole numbers of 53 bits are exact")]
        Ok(value) if value.abs() <= SAFE && value as i64 as f64 == value => Cow::Owned((value as i64).to_string()),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&'static str, &str)]) -> Headers {
        list.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect()
    }

    #[test]
    fn values_out_of_arguments() {
        let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
            "b":{"type":"boolean","x-mcp-header":"B"},"o":{"properties":{"d":{"type":"string","x-mcp-header":"D"}}}}}"#;
        let params = header_params(schema.as_bytes()).unwrap();
        let of = |arguments: &str| headers(&params, arguments.as_bytes());
        assert_eq!(
            of(r#"{"s":"x\u00e4","i":42,"b":false,"o":{"d":""},"q":"SELECT"}"#),
            pairs(&[
                ("Mcp-Param-S", "=?base64?eMOk?="),
                ("Mcp-Param-I", "42"),
                ("Mcp-Param-B", "false"),
                ("Mcp-Param-D", "")
            ])
        );
        assert_eq!(of(r#"{"s":null,"o":null}"#), []);
        assert_eq!(of(r#"{"s":{"d":1},"i":[1],"o":{"s":"x"}}"#), []);
        assert_eq!(of(r#"{"i":42.0}"#), pairs(&[("Mcp-Param-I", "42")]));
        assert_eq!(of(r#"{"i":-1.5e3}"#), pairs(&[("Mcp-Param-I", "-1500")]));
        assert_eq!(of(r#"{"i":1.5}"#), pairs(&[("Mcp-Param-I", "1.5")]));
        assert_eq!(of(r#"{"i":1e300}"#), pairs(&[("Mcp-Param-I", "1e300")]));
        assert_eq!(of(r#"{"s":"a","s":"b"}"#), pairs(&[("Mcp-Param-S", "b")]));
        assert_eq!(of("nonsense"), []);
    }
}
