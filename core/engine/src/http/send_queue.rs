//! The messages that wait to be sent. Each will be an exchange of its own.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memchr;

use super::request::Request;
use crate::frame::Transmit;

/// What waits to be sent to the server, sorted by what may overtake what.
///
/// Requests go first, because callers wait for them. Notifications, such as that a request is cancelled, go before answers to the
/// server's requests. The order among messages of one kind is kept.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    /// What the session wrote, a message a line, not sorted yet.
    lines: Transmit,
    /// The `notifications/initialized` that everything else waits for.
    initialized: Option<Vec<u8>>,
    /// Requests that are sent once more.
    resend: VecDeque<Request>,
    requests: VecDeque<Request>,
    /// The bytes of the messages in `requests`.
    request_bytes: usize,
    notifications: VecDeque<(String, Vec<u8>)>,
    notification_bytes: usize,
    /// One a line: a server may ask very often, and answers are small.
    answers: Transmit,
}

impl SendQueue {
    /// Returns the buffer that the session writes to.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        self.lines.buffer()
    }

    /// Takes the next message that is not sorted.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        next_line(&mut self.lines)
    }

    pub(super) fn add_request(&mut self, request: Request) {
        self.request_bytes += length(&request);
        self.requests.push_back(request);
    }

    pub(super) fn add_notification(&mut self, method: String, message: Vec<u8>) {
        if method == "notifications/initialized" {
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

    /// Sends a request once more, before all new ones.
    pub(super) fn resend(&mut self, request: Request) {
        self.resend.push_back(request);
    }

    /// Puts a request back that [`Self::next_request`] returned.
    pub(super) fn put_back(&mut self, request: Request) {
        self.resend.push_front(request);
    }

    /// Removes a request that nobody waits for any more.
    pub(super) fn remove_request(&mut self, id: u64) -> Option<Request> {
        if let Some(at) = self.resend.iter().position(|request| request.id == id) {
            return self.resend.remove(at);
        }
        // Ids only grow.
        let at = self.requests.binary_search_by_key(&id, |request| request.id).ok()?;
        let request = self.requests.remove(at)?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    pub(super) fn take_initialized(&mut self) -> Option<Vec<u8>> {
        self.initialized.take()
    }

    pub(super) fn next_request(&mut self) -> Option<Request> {
        if let Some(request) = self.resend.pop_front() {
            return Some(request);
        }
        let request = self.requests.pop_front()?;
        self.request_bytes -= length(&request);
        Some(request)
    }

    /// Takes the next notification, with its method, or the next answer.
    pub(super) fn next_message(&mut self) -> Option<(Option<String>, Vec<u8>)> {
        if let Some((method, message)) = self.notifications.pop_front() {
            self.notification_bytes -= message.len();
            return Some((Some(method), message));
        }
        next_line(&mut self.answers).map(|message| (None, message))
    }

    /// Takes the requests that were to be sent once more.
    pub(super) fn take_resend(&mut self) -> VecDeque<Request> {
        core::mem::take(&mut self.resend)
    }

    /// Returns the number of bytes that wait, but for those that are not sorted yet.
    pub(super) fn bytes(&self) -> usize {
        self.request_bytes + self.notification_bytes + self.answer_bytes()
    }

    /// Returns the number of bytes of answers that wait.
    pub(super) fn answer_bytes(&self) -> usize {
        self.answers.pending().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        let requests = self.resend.is_empty() && self.requests.is_empty();
        let messages = self.notifications.is_empty() && self.answers.pending().is_empty();
        requests && messages && self.initialized.is_none() && self.lines.pending().is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = SendQueue::default();
    }

    /// Frees the buffers, if nothing waits.
    pub(super) fn release_buffers(&mut self) {
        if self.is_empty() {
            self.clear();
        }
    }
}

fn next_line(lines: &mut Transmit) -> Option<Vec<u8>> {
    let pending = lines.pending();
    let end = memchr(b'\n', pending)?;
    let message = pending[..end].to_vec();
    lines.sent(end + 1);
    Some(message)
}

fn length(request: &Request) -> usize {
    request.message.as_ref().map_or(0, Vec::len)
}
