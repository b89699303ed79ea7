//! What goes over the wire, message by message, for who watches.

use std::collections::HashMap;

use crate::Direction;
use mcpwire_core::http::ExchangeId;
use mcpwire_core::internal::SseDecoder;

/// The longest message that is shown whole.
const LONGEST: usize = 64 << 20;

/// The responses that are being read.
#[derive(Default)]
pub(super) struct Watch(HashMap<ExchangeId, Seen>);

enum Seen {
    Body(Vec<u8>),
    Events(Box<SseDecoder>),
}

type Watched = Vec<(Direction, Vec<u8>)>;

impl Watch {
    pub(super) fn head(&mut self, id: ExchangeId, headers: &[(String, Vec<u8>)]) {
        let is_stream = headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type")
                && value.get(..17).is_some_and(|media| media.eq_ignore_ascii_case(b"text/event-stream"))
        });
        let seen = if is_stream { Seen::Events(Box::new(SseDecoder::new(LONGEST))) } else { Seen::Body(Vec::new()) };
        self.0.insert(id, seen);
    }

    pub(super) fn piece(&mut self, id: ExchangeId, mut bytes: &[u8], watched: &mut Watched) {
        match self.0.get_mut(&id) {
            Some(Seen::Body(body)) => {
                let room = LONGEST.saturating_sub(body.len());
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Some(Seen::Events(decoder)) => {
                while let Some(event) = decoder.next(&mut bytes) {
                    show(Direction::Received, event.data, watched);
                }
            }
            None => {}
        }
    }

    pub(super) fn end(&mut self, id: ExchangeId, watched: &mut Watched) {
        if let Some(Seen::Body(body)) = self.0.remove(&id) {
            show(Direction::Received, body, watched);
        }
    }
}

/// Shows a message as a line. What is JSON keeps its meaning without the line breaks in it.
pub(super) fn show(direction: Direction, mut message: Vec<u8>, watched: &mut Watched) {
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message.push(b'\n');
    watched.push((direction, message));
}
