//! [`ToolRefresh`]: fetches the tool list again for a call whose headers the server rejected.
//!
//! Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Client Behavior".

use alloc::string::String;
use alloc::vec::Vec;

use super::request::Request;
use super::tool_headers::ToolHeaders;
use crate::rpc::RpcError;
use crate::rpc::write::{self, ParamsError};
use mcpwire_text::json::scan::{member, text};
use mcpwire_types::ListParams;

/// Maximum number of pages of the tool list to request for one tool call: 100, more than any known server has.
const MAX_PAGES: u32 = 100;

/// A tool call that waits while the client fetches the tool list again.
#[derive(Debug)]
pub(super) struct ToolRefresh {
    call: Request,
    /// The error with which the server rejected the headers of the call.
    error: RpcError,
    next: NextPage,
    /// JSON-RPC id of the latest `tools/list` request for this tool call. 0 if no such request was sent yet.
    list_request: u64,
    /// Number of pages of the tool list that the client has requested for this call.
    pages: u32,
}

#[derive(Debug)]
enum NextPage {
    First,
    After(String),
    /// No page to request now: the called tool was found, the list has ended, or the requested page has not arrived.
    None,
}

/// What to do with a tool call when a `tools/list` request for it has ended.
#[derive(Debug)]
pub(super) enum AfterPage {
    /// The engine requests the next page of the tool list.
    RequestPage(ToolRefresh),
    /// The engine sends the tool call again, because the new tool list leads to other headers than the rejected ones.
    Resend(Request),
    /// The tool call with this JSON-RPC id fails with this error, because the new headers would be the same as the
    /// rejected ones.
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

    pub(super) fn list_request(&self) -> u64 {
        self.list_request
    }

    pub(super) fn push_params(&self, out: &mut Vec<u8>) -> Result<(), ParamsError> {
        let cursor = match &self.next {
            NextPage::After(cursor) => Some(cursor.as_str()),
            NextPage::First | NextPage::None => None,
        };
        write::push_object(out, &ListParams { cursor })
    }

    pub(super) fn page_requested(&mut self, id: u64) {
        self.list_request = id;
        self.pages += 1;
        self.next = NextPage::None;
    }

    /// Updates `tools` from a page of the tool list. If that page does not contain the called tool, selects the next page to
    /// request. `page` is `None` if the server responded with an error.
    pub(super) fn read_page(&mut self, page: Option<&[u8]>, tools: &mut ToolHeaders) {
        let tool = member(self.call.params(), "name").and_then(text);
        let is_found = tools.read_page_with(page, tool.as_deref());
        let cursor = page.and_then(|page| member(page, "nextCursor").and_then(text));
        self.next = match cursor {
            Some(cursor) if !is_found && self.pages < MAX_PAGES => NextPage::After(cursor),
            _ => NextPage::None,
        };
    }

    /// Decides what to do next with the tool call. `is_awaited` is `false` if no caller waits for the call any more:
    /// then no further page is requested.
    pub(super) fn after_page(self, tools: &ToolHeaders, is_awaited: bool) -> AfterPage {
        if is_awaited && matches!(self.next, NextPage::After(_)) {
            return AfterPage::RequestPage(self);
        }
        if tools.headers_of(self.call.params()) == self.call.header_params {
            AfterPage::Fail(self.call.id, self.error)
        } else {
            AfterPage::Resend(self.call)
        }
    }
}
