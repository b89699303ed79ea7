//! Watching the messages that go over the wire.

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From this client to the server.
    Sent,
    /// From the server to this client.
    Received,
}

/// Called with each line as it goes over the wire, without its line break.
pub(crate) type Watcher = Box<dyn FnMut(Direction, &[u8]) + Send>;

/// The longest line that is shown whole.
const LONGEST: usize = 64 << 20;

/// Cuts what goes over the wire into lines again.
pub(crate) struct Tracer {
    watcher: Watcher,
    sent: Vec<u8>,
    received: Vec<u8>,
}

impl Tracer {
    pub(crate) fn new(watcher: Watcher) -> Self {
        Tracer { watcher, sent: Vec::new(), received: Vec::new() }
    }

    pub(crate) fn push(&mut self, direction: Direction, bytes: &[u8]) {
        let line = match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        };
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = LONGEST.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let text = line.trim_ascii_end();
                if !text.is_empty() {
                    (self.watcher)(direction, text);
                }
                // A long line is not to be kept for short ones.
                *line = Vec::new();
            }
        }
    }
}
