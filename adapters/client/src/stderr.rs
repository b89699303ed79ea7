//! [`Stderr`]: stores the last output of a server on standard error, and passes its lines to a callback.

use std::collections::VecDeque;

use mcpwire_core::printable;

/// Maximum number of bytes of output that are stored. 64 KiB: about a thousand lines.
const MAX_TAIL: usize = 64 * 1024;

/// Maximum length of a line that a listener receives, in bytes. A longer line is truncated.
const MAX_LINE: usize = 16 * 1024;

/// Maximum number of lines of output in an error message. [`EXCERPT_BYTES`] is the maximum number of bytes.
const EXCERPT_LINES: usize = 12;
const EXCERPT_BYTES: usize = 2 * 1024;

/// A callback that receives each line that a server writes to standard error, without its line break.
pub type StderrListener = Box<dyn FnMut(&str) + Send>;

/// Stores the last output of a server on standard error for error messages, and passes its lines to a callback.
#[derive(Default)]
pub struct Stderr {
    tail: StderrTail,
    lines: StderrLines,
}

impl Stderr {
    /// Creates an empty buffer. `listener` receives the lines.
    pub fn new(listener: Option<StderrListener>) -> Self {
        Stderr { tail: StderrTail::default(), lines: StderrLines::new(listener) }
    }

    /// Stores the next bytes of the output, and calls the listener with each line that is now complete.
    pub fn push(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        self.lines.push(bytes);
    }

    /// Calls the listener with the last line if it has no line break.
    pub fn flush(&mut self) {
        self.lines.flush();
    }

    /// Returns the last lines for an error message: at most 12 lines and 2 KiB, without control characters.
    pub fn tail(&self) -> String {
        self.tail.excerpt()
    }

    /// Moves the listener to a new buffer, which receives the output of the restarted server.
    pub fn take_for_restart(&mut self) -> Stderr {
        Stderr::new(self.lines.listener.take())
    }
}

/// The last 64 KiB of a server's output on standard error.
#[derive(Debug, Default)]
pub struct StderrTail(VecDeque<u8>);

impl StderrTail {
    /// Stores the next bytes of the output, and drops the oldest bytes beyond 64 KiB.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(MAX_TAIL)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(MAX_TAIL);
        self.0.drain(..excess);
        self.0.extend(bytes);
    }

    /// Returns the stored output. Invalid UTF-8 is replaced with U+FFFD.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Returns the last non-empty lines for an error message: at most 12 lines and 2 KiB, without control characters.
    pub fn excerpt(&self) -> String {
        let text = self.text();
        let lines = text.rsplit('\n').filter(|line| !line.trim().is_empty());
        let mut lines: Vec<&str> = lines.take(EXCERPT_LINES).collect();
        lines.reverse();
        let mut tail = printable(&lines.join("\n")).to_string();
        if let Some(mut cut) = tail.len().checked_sub(EXCERPT_BYTES).filter(|cut| *cut > 0) {
            while !tail.is_char_boundary(cut) {
                cut += 1;
            }
            tail = format!("…{}", &tail[cut..]);
        }
        tail
    }
}

/// Splits the output of a server into lines for a listener.
#[derive(Default)]
pub struct StderrLines {
    /// The first bytes of a line. The end of the line has not arrived yet.
    line: Vec<u8>,
    listener: Option<StderrListener>,
}

impl StderrLines {
    /// Creates a splitter that calls `listener` with each line. Without a listener, it does nothing.
    pub fn new(listener: Option<StderrListener>) -> Self {
        StderrLines { line: Vec::new(), listener }
    }

    /// Returns whether a listener receives the lines.
    pub fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Takes the next bytes of the output, and calls the listener with each line that is now complete.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.listener.is_none() {
            return;
        }
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.flush();
            }
        }
    }

    /// Calls the listener with the last line if it has no line break.
    pub fn flush(&mut self) {
        if let Some(listener) = &mut self.listener
            && !self.line.is_empty()
        {
            listener(String::from_utf8_lossy(&self.line).trim_end_matches(['\n', '\r']));
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn only_the_last_64_kib_are_stored() {
        let mut stderr = Stderr::default();
        for _ in 0..100 {
            stderr.push(&[b'a'; 1500]);
        }
        stderr.push(b"\nlast line\n");
        assert_eq!(stderr.tail.text().len(), MAX_TAIL);
        assert!(stderr.tail().ends_with("last line"));
        assert!(stderr.tail().len() <= EXCERPT_BYTES + 3);
        stderr.push(&vec![b'b'; 10 * MAX_TAIL]);
        assert_eq!(stderr.tail.text(), "b".repeat(MAX_TAIL));
    }

    #[test]
    fn a_listener_receives_lines_that_arrive_in_pieces() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let mut stderr = Stderr::new(Some(Box::new(move |line| sink.lock().unwrap().push(line.to_owned()))));
        for piece in ["a", "b\r\nc", "\n\nd"] {
            stderr.push(piece.as_bytes());
        }
        stderr.flush();
        assert_eq!(*lines.lock().unwrap(), ["ab", "c", "", "d"]);
    }
}
