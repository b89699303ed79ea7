//! [`MessageTrace`]: extracts the messages from HTTP responses, for the callback that `ConnectOptions::trace` sets.

use std::collections::HashMap;

use crate::Direction;
use mcpwire_core::http::ExchangeId;
use mcpwire_core::internal::SseDecoder;

/// Maximum length of a traced message, in bytes. A longer body is truncated. A longer event of an event stream is omitted.
const MAX_MESSAGE: usize = 64 << 20;

/// The parts of messages that have arrived, for each response that is being read.
#[derive(Default)]
pub(super) struct MessageTrace(HashMap<ExchangeId, TracedBody>);

enum TracedBody {
    /// A body that is a single message. Contains the bytes that were read so far.
    Message(Vec<u8>),
    /// An event stream. The data of each event is a message.
    Events(Box<SseDecoder>),
}

/// Traced messages, in the order in which they were sent and received. Each ends with a line break.
pub(super) type TracedMessages = Vec<(Direction, Vec<u8>)>;

impl MessageTrace {
    /// Begins to trace the response of the exchange `id`. The headers say whether its body is a message or an event stream.
    pub(super) fn begin(&mut self, id: ExchangeId, headers: &[(String, Vec<u8>)]) {
        let is_stream = headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type")
                && value.get(..17).is_some_and(|media| media.eq_ignore_ascii_case(b"text/event-stream"))
        });
        let body = if is_stream {
            TracedBody::Events(Box::new(SseDecoder::new(MAX_MESSAGE)))
        } else {
            TracedBody::Message(Vec::new())
        };
        self.0.insert(id, body);
    }

    /// Takes the next bytes of a body. Adds each message that is now complete to `traced`.
    pub(super) fn body(&mut self, id: ExchangeId, mut bytes: &[u8], traced: &mut TracedMessages) {
        match self.0.get_mut(&id) {
            Some(TracedBody::Message(body)) => {
                let room = MAX_MESSAGE.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Some(TracedBody::Events(decoder)) => {
                while let Some(event) = decoder.next(&mut bytes) {
                    push_line(Direction::Received, event.data, traced);
                }
            }
            None => {}
        }
    }

    /// Ends the trace of a response. If the body is a single message, adds the message to `traced`.
    pub(super) fn end(&mut self, id: ExchangeId, traced: &mut TracedMessages) {
        if let Some(TracedBody::Message(body)) = self.0.remove(&id) {
            push_line(Direction::Received, body, traced);
        }
    }
}

/// Adds a message to `traced` as one line. Replaces line breaks with spaces, which is equivalent in JSON.
pub(super) fn push_line(direction: Direction, mut message: Vec<u8>, traced: &mut TracedMessages) {
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message.push(b'\n');
    traced.push((direction, message));
}
