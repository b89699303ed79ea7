//! [`SendQueue`]: the messages that wait to be sent. Each message is sent in a separate HTTP exchange.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use super::request::Request;
use crate::frame::TransmitBuffer;

/// The method of the notification that completes the handshake with a legacy server (up to revision 2025-11-25).
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// Which kinds of messages may be sent now. Each variant also allows the kinds of the variants before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Allowed {
    Nothing,
    /// Only `notifications/initialized`, while all other messages wait.
    Initialized,
    Requests,
    Everything,
}

pub(super) enum NextMessage {
    /// The `notifications/initialized` message.
    Initialized(Vec<u8>),
    Request(Request),
    /// A notification with this method, or an answer to a server request, which has no method.
    Message(Option<String>, Vec<u8>),
}

/// The messages that wait to be sent, in one queue for each kind of message.
///
/// Requests are sent first, because callers wait for them; then notifications; then answers to server requests.
#[derive(Default)]
pub(super) struct SendQueue {
    initialized: Option<Vec<u8>>,
    /// Requests that were taken from the queue and put back, for example to be sent again in a new session. They are
    /// sent before all new requests.
    pub(super) resend: VecDeque<Request>,
    /// New requests, sorted by JSON-RPC id.
    requests: VecDeque<Request>,
    /// Total length of the messages in `requests`, in bytes.
    request_bytes: usize,
    notifications: VecDeque<(String, Vec<u8>)>,
    notification_bytes: usize,
    /// Answers to server requests, one after another. One buffer avoids an allocation for each answer.
    answers: TransmitBuffer,
    answer_lengths: VecDeque<usize>,
}

impl SendQueue {
    pub(super) fn add_request(&mut self, request: Request) {
        self.request_bytes += length(&request);
        self.requests.push_back(request);
    }

    pub(super) fn add_notification(&mut self, method: String, message: Vec<u8>) {
        if method == INITIALIZED {
            self.initialized = Some(message);
        } else {
            self.notification_bytes += message.len();
            self.notifications.push_back((method, message));
        }
    }

    pub(super) fn add_answer(&mut self, message: &[u8]) {
        self.answers.buffer().extend_from_slice(message);
        self.answer_lengths.push_back(message.len());
    }

    pub(super) fn drop_requests(&mut self) {
        self.resend.clear();
        self.requests.clear();
        self.request_bytes = 0;
    }

    /// Removes and returns the queued request with this JSON-RPC id. Returns `None` if no such request is queued.
    pub(super) fn remove_request(&mut self, id: u64) -> Option<Request> {
        if let Some(at) = self.resend.iter().position(|request| request.id == id) {
            return self.resend.remove(at);
        }
        let at = self.requests.binary_search_by_key(&id, |request| request.id).ok()?;
        let request = self.requests.remove(at)?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    pub(super) fn next(&mut self, allowed: Allowed) -> Option<NextMessage> {
        if allowed >= Allowed::Initialized
            && let Some(message) = self.initialized.take()
        {
            return Some(NextMessage::Initialized(message));
        }
        if allowed >= Allowed::Requests
            && let Some(request) = self.next_request()
        {
            return Some(NextMessage::Request(request));
        }
        if allowed < Allowed::Everything {
            return None;
        }
        if let Some((method, message)) = self.notifications.pop_front() {
            self.notification_bytes -= message.len();
            return Some(NextMessage::Message(Some(method), message));
        }
        let length = self.answer_lengths.pop_front()?;
        let message = self.answers.pending().get(..length).unwrap_or_default().to_vec();
        self.answers.sent(length);
        Some(NextMessage::Message(None, message))
    }

    fn next_request(&mut self) -> Option<Request> {
        if let Some(request) = self.resend.pop_front() {
            return Some(request);
        }
        let request = self.requests.pop_front()?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    /// Returns the total length of the queued requests, notifications and answers, in bytes. The messages in `resend` do
    /// not count.
    pub(super) fn bytes(&self) -> usize {
        self.request_bytes + self.notification_bytes + self.answer_bytes()
    }

    pub(super) fn answer_bytes(&self) -> usize {
        // Each answer counts with one more byte, as it does in the outbox of the session.
        self.answers.pending().len() + self.answer_lengths.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        let requests = self.resend.is_empty() && self.requests.is_empty();
        requests && self.notifications.is_empty() && self.answer_lengths.is_empty() && self.initialized.is_none()
    }
}

fn length(request: &Request) -> usize {
    request.message.as_ref().map_or(0, Vec::len)
}
