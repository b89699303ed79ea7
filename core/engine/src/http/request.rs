//! [`Request`]: a request of the session, with the state of the attempts to complete it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::resume_point::ResumePoint;

/// A JSON-RPC request whose response has not arrived. If the event stream of the request breaks, the engine resumes the
/// stream in another HTTP exchange.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The JSON-RPC id of the request.
    pub(super) id: u64,
    pub(super) method: Box<str>,
    /// The JSON-RPC message. `None` once it was sent, unless the engine keeps a copy to send it again.
    pub(super) message: Option<Vec<u8>>,
    /// Names and values of the `Mcp-Param-*` headers with which the request was last sent.
    pub(super) header_params: Vec<(String, String)>,
    /// Whether no harm is done if the server carries out the request twice.
    pub(super) is_repeatable: bool,
    /// Whether the request was sent a second time. The engine does not send it a third time.
    pub(super) was_resent: bool,
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

    /// Returns whether the next HTTP exchange sends the request itself, instead of resuming the event stream of the
    /// request.
    ///
    /// The result is valid only until that exchange starts: a message on a resumed stream resets the number of
    /// attempts.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.resume.attempts() == 0
    }
}
