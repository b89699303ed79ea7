//! [`BrokenStreams`]: requests whose event stream broke before the JSON-RPC response arrived.
//!
//! Specification: protocol revision 2025-11-25, basic/transports, "Resumability and Redelivery".

use alloc::vec::Vec;

use super::request::Request;
use crate::random::XorShift64;
use crate::time::Timestamp;

/// The requests whose event stream broke, each with the time at which the engine tries to resume the stream.
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
