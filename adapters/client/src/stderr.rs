//! What a server writes on standard error: the end of it is kept, and it can be followed.

use std::collections::VecDeque;
use std::fmt;

use mcpwire_core::printable;

/// How much is kept. 64 KiB: the last thousand lines, of which an error shows some.
const MAX_TAIL: usize = 64 * 1024;

/// The longest line that a listener is given whole.
const MAX_LINE: usize = 16 * 1024;

/// How much of it an error shows.
const EXCERPT_LINES: usize = 12;
const EXCERPT_BYTES: usize = 2 * 1024;

/// Called with each line, as it comes, without its line break.
pub type StderrListener = Box<dyn FnMut(&str) + Send>;

/// The end of what a server wrote, and who follows it.
#[derive(Debug, Default)]
pub struct Stderr {
    tail: StderrTail,
    lines: StderrLines,
}

impl Stderr {
    /// Nothing yet.
    pub fn new(listener: Option<StderrListener>) -> Self {
        Stderr { tail: StderrTail::default(), lines: StderrLines::new(listener) }
    }

    /// Takes in what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.tail.push(bytes);
        self.lines.push(bytes);
    }

    /// Hands on a last line that has no line break.
    pub fn flush(&mut self) {
        self.lines.flush();
    }

    /// The last lines, bounded and printable.
    pub fn tail(&self) -> String {
        self.tail.excerpt()
    }

    /// Takes over the place of an earlier process: its listener, not its text.
    pub fn take_for_restart(&mut self) -> Stderr {
        Stderr::new(self.lines.listener.take())
    }
}

/// The end of what a server wrote: at most 64 KiB.
#[derive(Debug, Default)]
pub struct StderrTail(VecDeque<u8>);

impl StderrTail {
    /// Takes in what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(MAX_TAIL)..];
        let excess = (self.0.len() + bytes.len()).saturating_sub(MAX_TAIL);
        self.0.drain(..excess);
        self.0.extend(bytes);
    }

    /// All that is kept.
    pub fn text(&self) -> String {
        let (a, b) = self.0.as_slices();
        let mut bytes = a.to_vec();
        bytes.extend_from_slice(b);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The last lines, bounded and printable.
    pub fn excerpt(&self) -> String {
        let text = self.text();
        let mut lines: Vec<&str> = Vec::new();
        for line in text.rsplit('\n') {
            if lines.len() == EXCERPT_LINES {
                break;
            }
            if !line.chars().all(char::is_whitespace) {
                lines.push(line);
            }
        }
        let mut tail = String::new();
        for line in lines.iter().rev() {
            if !tail.is_empty() {
                tail.push('\n');
            }
            tail.push_str(line);
        }
        let mut tail = format!("{}", printable(&tail));
        if let Some(mut cut) = tail.len().checked_sub(EXCERPT_BYTES).filter(|cut| *cut > 0) {
            while !tail.is_char_boundary(cut) {
                cut += 1;
            }
            tail = format!("…{}", &tail[cut..]);
        }
        tail
    }
}

/// Cuts what a server writes into lines, for someone who follows it.
#[derive(Default)]
pub struct StderrLines {
    line: Vec<u8>,
    listener: Option<StderrListener>,
}

impl StderrLines {
    /// Nothing yet.
    pub fn new(listener: Option<StderrListener>) -> Self {
        StderrLines { line: Vec::new(), listener }
    }

    /// Whether anybody listens.
    pub fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Hands on the lines that are whole.
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

    /// Hands on a last line that has no line break.
    pub fn flush(&mut self) {
        if let Some(listener) = &mut self.listener
            && !self.line.is_empty()
        {
            listener(String::from_utf8_lossy(&self.line).trim_end_matches(['\n', '\r']));
            self.line.clear();
        }
    }
}

impl fmt::Debug for StderrLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrLines").field("followed", &self.listener.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut stderr = Stderr::default();
        for _ in 0..100 {
            stderr.push(&[b'a'; 1500]);
        }
        stderr.push(b"\nlast words\n");
        assert_eq!(stderr.tail.text().len(), MAX_TAIL);
        assert!(stderr.tail().ends_with("last words"));
        assert!(stderr.tail().len() <= EXCERPT_BYTES + 3);
        stderr.push(&vec![b'b'; 10 * MAX_TAIL]);
        assert_eq!(stderr.tail.text(), "b".repeat(MAX_TAIL));
    }

    #[test]
    fn a_follower_gets_lines_however_they_come() {
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
