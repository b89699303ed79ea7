//! Lists the tools again when the server does not agree with the headers of a call: its tools have changed (2026-07-28,
//! basic/transports/streamable-http, "Client Behavior").

use alloc::string::String;

use super::request::Request;
use super::tool_headers::ToolHeaders;
use crate::json::Json;
use crate::json::scan::{member, text};
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{usual_end, usual_start};
use crate::rpc::{RpcError, WireId};

/// The most pages of a list that are requested. 100: many more than any list of tools has.
const MAX_PAGES: u32 = 100;

/// A call that waits for a fresh list of tools.
#[derive(Debug)]
pub(super) struct ToolRefresh {
    call: Request,
    /// The error that the server refused the call with.
    error: RpcError,
    /// The id of the request for the list.
    id: u64,
    pages: u32,
    /// The cursor of the next page, if it is needed.
    next_page: Option<String>,
}

impl ToolRefresh {
    pub(super) fn new(call: Request, error: RpcError) -> Self {
        ToolRefresh { call: Request { was_resent: true, ..call }, error, id: 0, pages: 0, next_page: None }
    }

    pub(super) fn call(&self) -> &Request {
        &self.call
    }

    /// Returns the id of the request for the list.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the cursor of the page to request.
    pub(super) fn next_page(&self) -> Option<&str> {
        self.next_page.as_deref()
    }

    /// Handles that the page was requested, by the request with this id.
    pub(super) fn page_requested(&mut self, id: u64) {
        self.id = id;
        self.pages += 1;
        self.next_page = None;
    }

    /// Whether a message is the response to the request for the page.
    pub(super) fn is_response(&self, message: &[u8]) -> bool {
        member(message, "id").and_then(|id| WireId(id).number()) == Some(self.id)
    }

    /// Reads the page. The next page is needed until the tool is found.
    pub(super) fn read_page(&mut self, message: &[u8], tools: &mut ToolHeaders) {
        let call = self.call.message.as_deref();
        let tool = call.and_then(|call| member(member(call, "params")?, "name").and_then(text));
        let is_found = tools.read_page(message, Some(tool.as_deref().unwrap_or_default()));
        let next = member(message, "result").and_then(|result| member(result, "nextCursor").and_then(text));
        self.next_page = next.filter(|_| !is_found && self.pages < MAX_PAGES);
    }

    /// Returns the call, to be sent once more with the headers that it needs by now.
    ///
    /// # Errors
    /// If the headers are the same: the call would be refused again. Its id and its error are returned.
    pub(super) fn finish(self, tools: &ToolHeaders) -> Result<Request, (u64, RpcError)> {
        let headers = self.call.message.as_deref().map(|call| tools.headers_of(call)).unwrap_or_default();
        if headers == self.call.header_params { Err((self.call.id, self.error)) } else { Ok(self.call) }
    }
}

/// Returns the error of a response that says that the headers do not agree with the body.
pub(super) fn header_mismatch(message: &[u8], id: u64) -> Option<RpcError> {
    // Most answers are results, and most show that at once.
    if usual_start(message).is_some() || usual_end(message).is_some() {
        return None;
    }
    member(message, "error")?;
    match decode::answer::<Json>(message, id) {
        Ok(Answer::Error(error)) if error.code == RpcError::HEADER_MISMATCH => Some(error),
        _ => None,
    }
}
