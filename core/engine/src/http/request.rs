//! [`Request`]: a request of the session, with the state of the attempts to complete it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::resume_point::ResumePoint;

/// A request whose JSON-RPC response has not arrived. Several HTTP exchanges may serve the request, one after the
/// other.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The JSON-RPC id of the request.
    pub(super) id: u64,
    pub(super) method: Box<str>,
    /// The JSON-RPC message. `None` after the message was sent, unless the engine keeps a copy for sending it again.
    pub(super) message: Option<Vec<u8>>,
    /// Names and values of the `Mcp-Param-*` headers in the latest attempt to send the request.
    pub(super) header_params: Vec<(String, String)>,
    /// Whether the server may carry out the request twice without harm.
    pub(super) is_repeatable: bool,
    /// Whether the request was sent again. A request is sent at most twice.
    pub(super) was_resent: bool,
    /// Where and when to resume the event stream of the request if the stream breaks.
    pub(super) resume: ResumePoint,
}

impl Request {
    pub(super) fn new(id: u64, method: Box<str>, message: Vec<u8>, is_repeatable: bool) -> Self {
        Request {
            id,
            method,
            message: Some(message),
            header_params: Vec::new(),
            is_repeatable,
            was_resent: false,
            resume: ResumePoint::default(),
        }
    }

    pub(super) fn is_initialize(&self) -> bool {
        &*self.method == "initialize"
    }

    pub(super) fn is_tool_call(&self) -> bool {
        &*self.method == "tools/call"
    }

    /// Returns whether the exchange of this request sends the request itself, and does not resume its event stream.
    ///
    /// Reliable only until the exchange starts: a message on a resumed stream resets the number of attempts. Also
    /// `true` if the request is sent again in a new session, or after the server refused it.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.resume.attempts() == 0
    }
}
