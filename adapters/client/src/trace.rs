//! Watching the messages that go over the wire.

use std::fmt;

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this client to the server.
    Sent,
    /// From the server to this client.
    Received,
}

/// Called with each line as it goes over the wire, without its line break.
pub type TraceListener = Box<dyn FnMut(Direction, &[u8]) + Send>;

/// The longest line that is shown whole.
const MAX_LINE: usize = 64 << 20;

/// Cuts what goes over the wire into lines again.
pub struct Tracer {
    listener: TraceListener,
    sent: Vec<u8>,
    received: Vec<u8>,
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tracer").finish_non_exhaustive()
    }
}

impl Tracer {
    /// Nothing has been seen yet.
    pub fn new(listener: TraceListener) -> Self {
        Tracer { listener, sent: Vec::new(), received: Vec::new() }
    }

    /// Takes in bytes that went over the wire.
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
                // A long line is not to be kept for short ones.
                *line = Vec::new();
            }
        }
    }
}
