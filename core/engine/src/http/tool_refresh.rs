//! [`ToolRefresh`]: fetches the tool list again for a call whose headers the server rejected.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Client Behavior".

use alloc::string::String;
use alloc::vec::Vec;

use super::request::Request;
use super::tool_headers::ToolHeaders;
use crate::json::scan::{member, text};
use crate::rpc::write::{self, ParamsError};
use crate::rpc::{RpcError, WireId};
use crate::types::ListParams;

/// Maximum number of pages of the tool list that are requested for one tool call: 100, more than any known server has.
const MAX_PAGES: u32 = 100;

/// A tool call that waits until the tool list has been fetched again.
#[derive(Debug)]
pub(super) struct ToolRefresh {
    call: Request,
    /// The error with which the server rejected the headers of the call.
    error: RpcError,
    next: NextPage,
    /// The JSON-RPC id of the latest `tools/list` request. 0 before the first request.
    list_request: u64,
    /// Number of pages of the tool list that were requested.
    pages: u32,
}

#[derive(Debug)]
enum NextPage {
    First,
    /// The page that the server's cursor refers to.
    After(String),
    /// There is no page to request: the tool was found, or the list has ended, or a requested page has not arrived yet.
    None,
}

/// What to do with a tool call after a page of the tool list has arrived, or after its request failed.
#[derive(Debug)]
pub(super) enum AfterPage {
    /// Request the next page of the tool list.
    RequestPage(ToolRefresh),
    /// Send the tool call again with new headers.
    Resend(Request),
    /// Fail the call with this JSON-RPC id and error. Its headers have not changed, so the server would reject them
    /// again.
    Fail(u64, RpcError),
}

impl ToolRefresh {
    pub(super) fn new(call: Request, error: RpcError) -> Self {
        let call = Request { was_resent: true, ..call };
        ToolRefresh { call, error, next: NextPage::First, list_request: 0, pages: 0 }
    }

    pub(super) fn call(&self) -> &Request {
        &self.call
    }

    /// Returns the JSON-RPC id of the latest `tools/list` request.
    pub(super) fn list_request(&self) -> u64 {
        self.list_request
    }

    /// Appends the parameters of the next `tools/list` request to `out`.
    pub(super) fn push_params(&self, out: &mut Vec<u8>) -> Result<(), ParamsError> {
        let cursor = match &self.next {
            NextPage::After(cursor) => Some(cursor.as_str()),
            NextPage::First | NextPage::None => None,
        };
        write::push_object(out, &ListParams { cursor })
    }

    /// Records that a `tools/list` request with this JSON-RPC id was sent for the next page.
    pub(super) fn page_requested(&mut self, id: u64) {
        self.list_request = id;
        self.pages += 1;
        self.next = NextPage::None;
    }

    /// Returns whether `message` is the response to the latest `tools/list` request.
    pub(super) fn is_response(&self, message: &[u8]) -> bool {
        member(message, "id").and_then(|id| WireId(id).number()) == Some(self.list_request)
    }

    /// Reads a page of the tool list into `tools`, and selects the next page if this page does not contain the called
    /// tool.
    pub(super) fn read_page(&mut self, message: &[u8], tools: &mut ToolHeaders) {
        let call = self.call.message.as_deref();
        let tool = call.and_then(|call| member(member(call, "params")?, "name").and_then(text));
        let is_found = tools.read_page_with(message, tool.as_deref());
        let cursor = member(message, "result").and_then(|result| member(result, "nextCursor").and_then(text));
        self.next = match cursor {
            Some(cursor) if !is_found && self.pages < MAX_PAGES => NextPage::After(cursor),
            _ => NextPage::None,
        };
    }

    /// Returns what to do next with the tool call. `is_awaited` says whether a caller still waits for the result of the
    /// call.
    pub(super) fn after_page(self, tools: &ToolHeaders, is_awaited: bool) -> AfterPage {
        if is_awaited && matches!(self.next, NextPage::After(_)) {
            return AfterPage::RequestPage(self);
        }
        let headers = self.call.message.as_deref().map(|call| tools.headers_of(call)).unwrap_or_default();
        if headers == self.call.header_params {
            AfterPage::Fail(self.call.id, self.error)
        } else {
            AfterPage::Resend(self.call)
        }
    }
}
