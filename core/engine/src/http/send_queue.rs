//! [`SendQueue`]: the messages that wait to be sent. Each message is sent in a separate HTTP exchange.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use memchr::memchr;

use super::request::Request;
use crate::frame::TransmitBuffer;

/// The method of the notification that completes the handshake with a legacy server (up to revision 2025-11-25).
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// A kind of message to which the server sends no JSON-RPC response.
#[derive(Debug)]
pub(super) enum MessageKind {
    /// A notification with this method.
    Notification(String),
    /// An answer to a server request.
    Answer,
}

impl MessageKind {
    pub(super) fn into_method(self) -> Option<String> {
        match self {
            MessageKind::Notification(method) => Some(method),
            MessageKind::Answer => None,
        }
    }

    pub(super) fn method(&self) -> &str {
        match self {
            MessageKind::Notification(method) => method,
            MessageKind::Answer => "",
        }
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.method() == INITIALIZED
    }
}

/// Which kinds of messages may be sent now. Each variant also allows the kinds of the variants before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Allowed {
    Nothing,
    /// Only `notifications/initialized`, while all other messages wait.
    Initialized,
    Requests,
    Everything,
}

#[derive(Debug)]
pub(super) enum Outgoing {
    /// The `notifications/initialized` message.
    Initialized(Vec<u8>),
    Request(Request),
    Message(MessageKind, Vec<u8>),
}

/// The messages that wait to be sent, in one queue for each kind of message.
///
/// Requests are sent first, because callers wait for them; then notifications; then answers to server requests.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    /// JSON-RPC messages that the session has written and that are in none of the other queues yet. Each message ends
    /// with a newline.
    unsorted: TransmitBuffer,
    initialized: Option<Vec<u8>>,
    /// Requests that were taken from the queue and put back, for example to be sent again in a new session. They are
    /// sent before all new requests.
    resend: VecDeque<Request>,
    /// New requests, sorted by JSON-RPC id.
    requests: VecDeque<Request>,
    /// Total length of the messages in `requests`, in bytes.
    request_bytes: usize,
    notifications: VecDeque<(String, Vec<u8>)>,
    notification_bytes: usize,
    /// Answers to server requests, each followed by a newline. One buffer avoids an allocation for each answer.
    answers: TransmitBuffer,
}

impl SendQueue {
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        self.unsorted.buffer()
    }

    pub(super) fn next_unsorted(&mut self) -> Option<Vec<u8>> {
        next_line(&mut self.unsorted)
    }

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
        let answers = self.answers.buffer();
        answers.extend_from_slice(message);
        answers.push(b'\n');
    }

    pub(super) fn resend(&mut self, request: Request) {
        self.resend.push_back(request);
    }

    /// Puts a request that [`Self::next`] returned back to the front of the queue.
    pub(super) fn put_back(&mut self, request: Request) {
        self.resend.push_front(request);
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

    /// Removes and returns all requests that wait to be sent again.
    pub(super) fn take_resend(&mut self) -> VecDeque<Request> {
        mem::take(&mut self.resend)
    }

    pub(super) fn next(&mut self, allowed: Allowed) -> Option<Outgoing> {
        if allowed >= Allowed::Initialized
            && let Some(message) = self.initialized.take()
        {
            return Some(Outgoing::Initialized(message));
        }
        if allowed >= Allowed::Requests
            && let Some(request) = self.next_request()
        {
            return Some(Outgoing::Request(request));
        }
        if allowed < Allowed::Everything {
            return None;
        }
        if let Some((method, message)) = self.notifications.pop_front() {
            self.notification_bytes -= message.len();
            return Some(Outgoing::Message(MessageKind::Notification(method), message));
        }
        next_line(&mut self.answers).map(|message| Outgoing::Message(MessageKind::Answer, message))
    }

    fn next_request(&mut self) -> Option<Request> {
        if let Some(request) = self.resend.pop_front() {
            return Some(request);
        }
        let request = self.requests.pop_front()?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    /// Returns the total length of the queued requests, notifications and answers, in bytes. The messages in `unsorted`
    /// and `resend` do not count.
    pub(super) fn bytes(&self) -> usize {
        self.request_bytes + self.notification_bytes + self.answer_bytes()
    }

    pub(super) fn answer_bytes(&self) -> usize {
        self.answers.pending().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        let requests = self.resend.is_empty() && self.requests.is_empty();
        let messages = self.notifications.is_empty() && self.answers.pending().is_empty();
        requests && messages && self.initialized.is_none() && self.unsorted.pending().is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = SendQueue::default();
    }

    pub(super) fn release_buffers(&mut self) {
        if self.is_empty() {
            self.clear();
        }
    }
}

fn next_line(lines: &mut TransmitBuffer) -> Option<Vec<u8>> {
    let pending = lines.pending();
    let end = memchr(b'\n', pending)?;
    let message = pending[..end].to_vec();
    lines.sent(end + 1);
    Some(message)
}

fn length(request: &Request) -> usize {
    request.message.as_ref().map_or(0, Vec::len)
}
