//! [`Request`]: a request of the session, with the state of the attempts to complete it. [`ToolRefresh`]: a tool call that
//! waits for a newer tool list.

use alloc::vec::Vec;

use super::header_values::Headers;
use super::resume_point::ResumePoint;
use crate::rpc::RpcError;
use crate::session::OutgoingRequest;

/// A JSON-RPC request whose response has not arrived. If the event stream of the request breaks, the engine resumes the
/// stream in another HTTP exchange.
#[derive(Clone)]
pub(super) struct Request {
    /// The JSON-RPC id of the request.
    pub(super) id: u64,
    /// What the session says about the message.
    pub(super) head: OutgoingRequest,
    /// The JSON-RPC message. `None` once it was sent, unless the engine keeps a copy to send it again.
    pub(super) message: Option<Vec<u8>>,
    /// Names and values of the `Mcp-Param-*` headers with which the request was last sent.
    pub(super) header_params: Headers,
    /// Whether the request was sent a second time. The engine does not send it a third time.
    pub(super) was_resent: bool,
    pub(super) resume: ResumePoint,
}

impl Request {
    pub(super) fn new(head: OutgoingRequest, message: Vec<u8>) -> Self {
        Request {
            id: head.id,
            head,
            message: Some(message),
            header_params: Vec::new(),
            was_resent: false,
            resume: ResumePoint::default(),
        }
    }

    pub(super) fn method(&self) -> &str {
        &self.head.method
    }

    /// Returns the parameters in the message: a JSON object without `_meta` and the closing brace. Empty if the request has
    /// no parameters, or if the message is not stored any more.
    pub(super) fn params(&self) -> &[u8] {
        let message = self.message.as_deref().unwrap_or_default();
        message.get(self.head.params.clone()).unwrap_or_default()
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.method() == "initialize"
    }

    pub(super) fn is_tool_call(&self) -> bool {
        self.method() == "tools/call"
    }
}

/// A tool call that waits while the client fetches the tool list again, because the server rejected the headers of the
/// call.
///
/// Specification: protocol revision 2026-07-28, basic/transports/streamable-http, "Client Behavior".
pub(super) struct ToolRefresh {
    pub(super) call: Request,
    /// The error with which the server rejected the headers of the call.
    pub(super) error: RpcError,
    /// JSON-RPC id of the latest `tools/list` request for this tool call.
    pub(super) list_request: u64,
    /// Number of pages of the tool list that the client has requested for this call.
    pub(super) pages: u32,
}
