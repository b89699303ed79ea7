//! [`ToolCalls`]: updates the custom headers of tool calls when the server's tools change.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters"
//! and "Client Behavior".

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::command::ExchangeId;
use super::exchange_purpose::Purpose;
use super::exchanges::OpenExchange;
use super::request::Request;
use super::tool_headers::ToolHeaders;
use super::tool_refresh::{AfterPage, ToolRefresh};
use super::transport::Transport;
use crate::rpc::{Response, RpcError, decode};
use crate::session::RequestFault;
use mcpwire_text::json::Json;
use mcpwire_text::json::scan::member;

/// Sets the `Mcp-Param-*` headers of tool calls. When a server rejects the headers of a tool call, fetches the tool
/// list again, because the parameters of the tool may have changed.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    headers: ToolHeaders,
    /// The first exchange that may have the current authorization. `None` if the authorization has not changed.
    first: Option<ExchangeId>,
}

impl ToolCalls {
    /// Sets the `Mcp-Param-*` headers of a tool call, and [`Request::is_repeatable`] of any request.
    ///
    /// For a tool call, both depend on the tool's entry in the tool lists that the server has sent.
    pub(super) fn prepare(&self, request: &mut Request, transport: &Transport) {
        if request.message.is_none() {
            return;
        }
        if transport.endpoint.is_modern() && request.is_tool_call() {
            request.header_params = self.headers.headers_of(request.params());
        }
        request.is_repeatable = request.is_repeatable || self.headers.is_repeatable(request.method(), request.params());
    }

    /// Forgets the tools, because another authorization may have others. `first` is the next exchange.
    pub(super) fn authorization_changed(&mut self, first: ExchangeId) {
        *self = ToolCalls { headers: ToolHeaders::default(), first: Some(first) };
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
                if self.first.is_none_or(|first| from >= first) {
                    self.headers.read_page(response.result(message));
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
            Purpose::RefreshTools(refresh) if response.id == refresh.list_request() => {
                // Further messages of the same exchange are not needed.
                if let Some(OpenExchange { purpose: Purpose::RefreshTools(mut refresh), .. }) = transport.abort(from) {
                    refresh.read_page(response.result(message), &mut self.headers);
                    self.continue_refresh(*refresh, transport);
                }
                true
            }
            _ => false,
        }
    }

    /// Continues with a tool call that waits for the tool list: requests the next page, sends the call again, or fails
    /// the call.
    pub(super) fn continue_refresh(&self, refresh: ToolRefresh, transport: &mut Transport) {
        let is_awaited = transport.session.waits_for(refresh.call().id);
        match refresh.after_page(&self.headers, is_awaited) {
            AfterPage::RequestPage(refresh) => request_page(refresh, transport),
            AfterPage::Resend(call) => transport.queue.resend(call),
            AfterPage::Fail(call, error) => transport.fail(call, RequestFault::Server(error)),
        }
    }
}

/// Fetches the tool list again, because the server rejected the headers of the tool call `call` with `error`.
///
/// If the engine has no copy of the message to send again, the call fails with `error` instead.
pub(super) fn refresh_tools(call: Request, error: RpcError, transport: &mut Transport) {
    if call.message.is_none() {
        return transport.fail(call.id, RequestFault::Server(error));
    }
    request_page(ToolRefresh::new(call, error), transport);
}

fn request_page(mut refresh: ToolRefresh, transport: &mut Transport) {
    let (id, message) = transport.session.write_own("tools/list", &|out: &mut Vec<u8>| refresh.push_params(out));
    refresh.page_requested(id);
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
