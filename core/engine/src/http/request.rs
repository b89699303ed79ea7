//! [`Request`]: a request of the session, with the state of its attempts.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::resume_point::ResumePoint;

/// A request that waits for its answer. Several exchanges may serve it, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The JSON-RPC id.
    pub(super) id: u64,
    pub(super) method: Box<str>,
    /// The JSON-RPC message. A request that was sent keeps the message only if it may be sent again.
    pub(super) message: Option<Vec<u8>>,
    /// The `Mcp-Param-*` headers of the latest attempt.
    pub(super) header_params: Vec<(String, String)>,
    /// Whether the server may carry out the request twice.
    pub(super) is_repeatable: bool,
    /// Whether the request was sent again. A request is sent twice at most.
    pub(super) was_resent: bool,
    /// Where the event stream of the answer resumes if it breaks.
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

    /// Returns whether no earlier exchange served the request in the present session. A request is sent again only if the
    /// server has not carried it out, or in another session.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.resume.attempts() == 0
    }
}
