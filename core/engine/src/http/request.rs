//! [`Request`]: a request of the session, with the state of the attempts to complete it. [`BrokenStreams`]: the requests
//! whose event stream broke.

use alloc::string::String;
use alloc::vec::Vec;

use super::resume_point::ResumePoint;
use crate::random::XorShift64;
use crate::session::OutgoingRequest;
use crate::time::Timestamp;
use mcpwire_types::ProtocolVersion;

/// A JSON-RPC request whose response has not arrived. If the event stream of the request breaks, the engine resumes the
/// stream in another HTTP exchange.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The JSON-RPC id of the request.
    pub(super) id: u64,
    /// What the session says about the message.
    pub(super) head: OutgoingRequest,
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
    pub(super) fn new(head: OutgoingRequest, message: Vec<u8>) -> Self {
        Request {
            id: head.id,
            is_repeatable: head.is_repeatable,
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

    /// Returns the modern protocol version that the message declares (from revision 2026-07-28). `None` for a legacy
    /// version.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        self.head.version
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

    /// Returns whether the next HTTP exchange sends the request itself, instead of resuming the event stream of the
    /// request.
    ///
    /// The result is valid only until that exchange starts: a message on a resumed stream resets the number of
    /// attempts.
    pub(super) fn is_first_attempt(&self) -> bool {
        self.resume.attempts() == 0
    }
}

/// The requests whose event stream broke before the JSON-RPC response arrived (specification, revision 2025-11-25:
/// basic/transports, "Resumability and Redelivery"), each with the time at which the engine tries to resume the stream.
#[derive(Debug, Default)]
pub(super) struct BrokenStreams(Vec<(Timestamp, Request)>);

impl BrokenStreams {
    /// Adds a request whose event stream broke, and chooses the time at which the engine tries to resume the stream.
    pub(super) fn add(&mut self, mut request: Request, now: Timestamp, random: &mut XorShift64) {
        let at = request.resume.next_attempt(now, random);
        self.0.push((at, request));
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.0.retain(|(_, request)| request.id != id);
    }

    pub(super) fn next_due(&mut self, now: Timestamp) -> Option<Request> {
        let at = self.0.iter().position(|(at, _)| *at <= now)?;
        Some(self.0.swap_remove(at).1)
    }

    pub(super) fn poll_timeout(&self) -> Option<Timestamp> {
        self.0.iter().map(|(at, _)| *at).min()
    }
}
