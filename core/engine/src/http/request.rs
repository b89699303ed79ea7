//! A request of the client, as its exchanges need it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::reopening::ResumePoint;

/// A request that waits for its answer. Several exchanges may serve it in turn.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The id on the wire.
    pub(super) id: u64,
    pub(super) method: Box<str>,
    /// The message. After the request was sent: only where it may have to be sent again.
    pub(super) message: Option<Vec<u8>>,
    /// The custom headers from tool parameters that it was sent with.
    pub(super) header_params: Vec<(String, String)>,
    /// Whether the server may carry it out twice.
    pub(super) is_repeatable: bool,
    /// Whether it was sent a second time. There is no third.
    pub(super) was_resent: bool,
    /// Where the stream of its answer is resumed.
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

    /// Whether no exchange for the request was started before in the present session. A request is sent once more only where
    /// the server has not carried it out, or in another session.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.resume.attempts() == 0
    }
}
