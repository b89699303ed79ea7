//! [`SendQueue`]: the messages that wait to be sent. Each becomes an exchange of its own.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use memchr::memchr;

use super::request::Request;
use crate::frame::TransmitBuffer;

/// The notification that completes the handshake of a legacy session.
pub(super) const INITIALIZED: &str = "notifications/initialized";

/// A kind of message that the server accepts without an answer.
#[derive(Debug)]
pub(super) enum MessageKind {
    /// A notification of this method.
    Notification(String),
    /// An answer to a request of the server.
    Answer,
}

impl MessageKind {
    /// Returns the method of a notification.
    pub(super) fn into_method(self) -> Option<String> {
        match self {
            MessageKind::Notification(method) => Some(method),
            MessageKind::Answer => None,
        }
    }

    /// Returns the method of a notification, or an empty string for an answer.
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

/// Which messages may be sent now. Each variant allows those of the variants before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Allowed {
    Nothing,
    /// `notifications/initialized`, which all other messages wait for.
    Initialized,
    Requests,
    Everything,
}

/// A message to send.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// `notifications/initialized`.
    Initialized(Vec<u8>),
    Request(Request),
    Message(MessageKind, Vec<u8>),
}

/// The messages that wait to be sent, with one queue for each kind.
///
/// Requests go first, because callers wait for their answers. Notifications, such as cancellations, go before answers to the
/// server's requests. Messages of one kind keep their order.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    /// The messages as the session wrote them, one a line.
    unsorted: TransmitBuffer,
    initialized: Option<Vec<u8>>,
    /// Requests that are sent again. They go before all new requests.
    resend: VecDeque<Request>,
    /// New requests, by ascending id.
    requests: VecDeque<Request>,
    /// The number of bytes of the messages in `requests`.
    request_bytes: usize,
    notifications: VecDeque<(String, Vec<u8>)>,
    notification_bytes: usize,
    /// Answers, one a line: a server may cause many small ones, and a line costs less than an allocation.
    answers: TransmitBuffer,
}

impl SendQueue {
    /// Returns the buffer that the session writes messages to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        self.unsorted.buffer()
    }

    /// Removes the next message that the session wrote.
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

    /// Adds a request that is sent again, behind other such requests.
    pub(super) fn resend(&mut self, request: Request) {
        self.resend.push_back(request);
    }

    /// Puts a request back that [`Self::next`] returned.
    pub(super) fn put_back(&mut self, request: Request) {
        self.resend.push_front(request);
    }

    /// Removes a request before it is sent.
    pub(super) fn remove_request(&mut self, id: u64) -> Option<Request> {
        if let Some(at) = self.resend.iter().position(|request| request.id == id) {
            return self.resend.remove(at);
        }
        let at = self.requests.binary_search_by_key(&id, |request| request.id).ok()?;
        let request = self.requests.remove(at)?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    /// Removes the requests that were to be sent again.
    pub(super) fn take_resend(&mut self) -> VecDeque<Request> {
        mem::take(&mut self.resend)
    }

    /// Removes the next message that may be sent.
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

    /// Returns the number of bytes that wait to be sent, without unsorted messages and requests that are sent again.
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

    /// Frees the buffers if the queue is empty.
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
