//! [`ToolRefresh`]: the tool list that is read again for a call whose headers the server rejected (2026-07-28,
//! basic/transports/streamable-http, "Client Behavior").

use alloc::string::String;
use alloc::vec::Vec;

use super::request::Request;
use super::tool_headers::ToolHeaders;
use crate::json::scan::{member, text};
use crate::rpc::write::{self, ParamsError};
use crate::rpc::{RpcError, WireId};
use crate::types::ListParams;

/// Maximum number of pages to request. 100: many more than any tool list has.
const MAX_PAGES: u32 = 100;

/// A tool call that waits for a fresh tool list.
#[derive(Debug)]
pub(super) struct ToolRefresh {
    call: Request,
    /// The server's error for the call.
    error: RpcError,
    next: NextPage,
    /// The id of the latest `tools/list` request.
    list_request: u64,
    /// The number of requested pages.
    pages: u32,
}

#[derive(Debug)]
enum NextPage {
    First,
    /// The page after this cursor.
    After(String),
    /// The list has been read as far as needed, or the requested page has not arrived.
    None,
}

/// What follows for a call after a page has arrived, or was not sent.
#[derive(Debug)]
pub(super) enum AfterPage {
    /// Request the next page.
    RequestPage(ToolRefresh),
    /// Send the call again.
    Resend(Request),
    /// Fail the call of this id: its headers are still the same, so the server would reject them again.
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

    /// Returns the id of the latest `tools/list` request.
    pub(super) fn list_request(&self) -> u64 {
        self.list_request
    }

    /// Writes the parameters of the next `tools/list` request.
    pub(super) fn push_params(&self, out: &mut Vec<u8>) -> Result<(), ParamsError> {
        let cursor = match &self.next {
            NextPage::After(cursor) => Some(cursor.as_str()),
            NextPage::First | NextPage::None => None,
        };
        write::push_object(out, &ListParams { cursor })
    }

    /// Records the id of the `tools/list` request for the next page.
    pub(super) fn page_requested(&mut self, id: u64) {
        self.list_request = id;
        self.pages += 1;
        self.next = NextPage::None;
    }

    /// Returns whether a message is the response to the latest `tools/list` request.
    pub(super) fn is_response(&self, message: &[u8]) -> bool {
        member(message, "id").and_then(|id| WireId(id).number()) == Some(self.list_request)
    }

    /// Reads a page into `tools`. Another page is needed unless the page contains the tool of the call.
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

    /// Returns what follows. `is_awaited` says whether a caller still waits for the call.
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
