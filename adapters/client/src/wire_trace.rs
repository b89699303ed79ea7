//! [`Tracer`]: splits the sent and received bytes into messages, for the callback that `ConnectOptions::trace` sets.

/// Whether a message or bytes were sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client sent the message or bytes to the server.
    Sent,
    /// The client received the message or bytes from the server.
    Received,
}

/// A callback that receives each sent and received message, without its line break.
pub type TraceListener = Box<dyn FnMut(Direction, &[u8]) + Send>;

/// Maximum length of a traced message, in bytes. A longer message is truncated.
const MAX_LINE: usize = 64 << 20;

/// Splits the sent and received bytes into messages, and calls a listener with each message.
pub struct Tracer {
    listener: TraceListener,
    /// The first bytes of a message that is being sent.
    sent: Vec<u8>,
    /// The first bytes of a message that is being received.
    received: Vec<u8>,
}

impl Tracer {
    /// Creates a tracer that calls this listener with each message.
    pub fn new(listener: TraceListener) -> Self {
        Tracer { listener, sent: Vec::new(), received: Vec::new() }
    }

    /// Takes the next sent or received bytes, and calls the listener with each message that is now complete.
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
                // Frees the buffer, because the message may have been large.
                *line = Vec::new();
            }
        }
    }
}
