//! [`ToolCalls`]: updates the custom headers of tool calls when the server's tools change.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool Parameters"
//! and "Client Behavior".

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::command::ExchangeId;
use super::context::Context;
use super::exchanges::OpenExchange;
use super::purpose::Purpose;
use super::request::Request;
use super::tool_headers::ToolHeaders;
use super::tool_refresh::{AfterPage, ToolRefresh};
use crate::rpc::{Response, RpcError, decode};
use crate::session::RequestFault;
use mcpwire_types::json::Json;
use mcpwire_types::json::scan::member;

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
    pub(super) fn prepare(&self, request: &mut Request, context: &Context) {
        if request.message.is_none() {
            return;
        }
        if context.endpoint.is_modern() && request.is_tool_call() {
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
        context: &mut Context,
    ) -> bool {
        let Some(exchange) = context.exchanges.get(from) else { return false };
        match &exchange.purpose {
            Purpose::Request(request) if request.method() == "tools/list" => {
                if self.first.is_none_or(|first| from >= first) {
                    self.headers.read_page(response.result(message));
                }
                false
            }
            Purpose::Request(call) if context.endpoint.is_modern() && call.is_tool_call() && !call.was_resent => {
                let Some(error) = header_mismatch(message, response, call.id) else { return false };
                let call = call.clone();
                context.abort(from);
                refresh_tools(call, error, context);
                true
            }
            Purpose::RefreshTools(refresh) if response.id == refresh.list_request() => {
                // Further messages of the same exchange are not needed.
                if let Some(OpenExchange { purpose: Purpose::RefreshTools(mut refresh), .. }) = context.abort(from) {
                    refresh.read_page(response.result(message), &mut self.headers);
                    self.continue_refresh(*refresh, context);
                }
                true
            }
            _ => false,
        }
    }

    /// Continues with a tool call that waits for the tool list: requests the next page, sends the call again, or fails
    /// the call.
    pub(super) fn continue_refresh(&self, refresh: ToolRefresh, context: &mut Context) {
        let is_awaited = context.session.waits_for(refresh.call().id);
        match refresh.after_page(&self.headers, is_awaited) {
            AfterPage::RequestPage(refresh) => request_page(refresh, context),
            AfterPage::Resend(call) => context.queue.resend(call),
            AfterPage::Fail(call, error) => context.fail(call, RequestFault::Server(error)),
        }
    }
}

/// Fetches the tool list again, because the server rejected the headers of the tool call `call` with `error`.
///
/// If the engine has no copy of the message to send again, the call fails with `error` instead.
pub(super) fn refresh_tools(call: Request, error: RpcError, context: &mut Context) {
    if call.message.is_none() {
        return context.fail(call.id, RequestFault::Server(error));
    }
    request_page(ToolRefresh::new(call, error), context);
}

fn request_page(mut refresh: ToolRefresh, context: &mut Context) {
    let (id, message) = context.session.write_own("tools/list", &|out: &mut Vec<u8>| refresh.push_params(out));
    refresh.page_requested(id);
    context.post(Purpose::RefreshTools(Box::new(refresh)), message);
}

/// Returns the JSON-RPC error in `message` if it rejects the headers of the request with the JSON-RPC id `id`.
/// Otherwise returns `None`.
fn header_mismatch(message: &[u8], response: Response, id: u64) -> Option<RpcError> {
    if response.id != id || response.is_plain_result() {
        return None;
    }
    member(message, "error")?;
    match decode::answer::<Json>(message, response) {
        Err(RequestFault::Server(error)) if error.code == RpcError::HEADER_MISMATCH => Some(error),
        _ => None,
    }
}
