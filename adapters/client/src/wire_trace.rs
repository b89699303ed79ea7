//! [`Tracer`]: splits the bytes on the wire into messages for a listener.

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this client to the server.
    Sent,
    /// From the server to this client.
    Received,
}

/// A callback that receives each message on the wire, without its line break.
pub type TraceListener = Box<dyn FnMut(Direction, &[u8]) + Send>;

/// Maximum length of a traced message, in bytes. A longer message is truncated.
const MAX_LINE: usize = 64 << 20;

/// Splits the bytes on the wire into messages, and calls a listener with each.
pub struct Tracer {
    listener: TraceListener,
    /// The beginning of a message whose end was not sent yet.
    sent: Vec<u8>,
    /// The beginning of a message whose end has not arrived.
    received: Vec<u8>,
}

impl Tracer {
    /// Creates a tracer that calls this listener.
    pub fn new(listener: TraceListener) -> Self {
        Tracer { listener, sent: Vec::new(), received: Vec::new() }
    }

    /// Calls the listener with the messages that these bytes complete.
    pub fn push(&mut self, direction: Direction, bytes: &[u8]) {
        let line = match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        };
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let text = line.trim_ascii_end();
                if !text.is_empty() {
                    (self.listener)(direction, text);
                }
                // Frees the buffer: the message may have been large.
                *line = Vec::new();
            }
        }
    }
}
