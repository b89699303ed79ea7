//! [`ToolCalls`]: updates the custom headers of tool calls when the server's tools change.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters"
//! and "Client Behavior".

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::command::ExchangeId;
use super::exchange_purpose::Purpose;
use super::exchanges::OpenExchange;
use super::request::{Request, ToolRefresh};
use super::tool_headers::ToolHeaders;
use super::transport::Transport;
use crate::rpc::{Response, RpcError, decode, write};
use crate::session::RequestFault;
use mcpwire_text::json::Json;
use mcpwire_text::json::scan::{member, text};
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
