//! What a server writes on standard error: the end of it is kept, and it can be followed.

use std::collections::VecDeque;

use mcpwire_core::printable;

/// How much is kept. 64 KiB: the last thousand lines, of which an error shows some.
const KEPT: usize = 64 * 1024;

/// The longest line that a follower is given whole.
const LONGEST: usize = 16 * 1024;

/// How much of it an error shows.
const SHOWN_LINES: usize = 12;
const SHOWN_BYTES: usize = 2 * 1024;

/// Called with each line, as it comes, without its line break.
pub(crate) type Follower = Box<dyn FnMut(&str) + Send>;

#[derive(Default)]
pub(crate) struct Stderr {
    kept: VecDeque<u8>,
    line: Vec<u8>,
    follower: Option<Follower>,
}

impl Stderr {
    pub(crate) fn new(follower: Option<Follower>) -> Self {
        Stderr { follower, ..Stderr::default() }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes_kept = &bytes[bytes.len().saturating_sub(KEPT)..];
        let excess = (self.kept.len() + bytes_kept.len()).saturating_sub(KEPT);
        self.kept.drain(..excess);
        self.kept.extend(bytes_kept);
        if self.follower.is_some() {
            for piece in bytes.split_inclusive(|b| *b == b'\n') {
                let room = LONGEST.saturating_sub(self.line.len());
                self.line.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.ends_with(b"\n") {
                    self.flush();
                }
            }
        }
    }

    /// Hands on a last line that has no line break.
    pub(crate) fn flush(&mut self) {
        if let Some(follower) = &mut self.follower
            && !self.line.is_empty()
        {
            follower(String::from_utf8_lossy(&self.line).trim_end_matches(['\n', '\r']));
            self.line.clear();
        }
    }

    /// All that is kept.
    pub(crate) fn text(&self) -> String {
        let (a, b) = self.kept.as_slices();
        String::from_utf8_lossy(&[a, b].concat()).into_owned()
    }

    /// The last lines, bounded and printable.
    pub(crate) fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let mut tail = printable(&lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")).to_string();
        if tail.len() > SHOWN_BYTES {
            let cut =
                (tail.len() - SHOWN_BYTES..tail.len()).find(|at| tail.is_char_boundary(*at)).unwrap_or(tail.len());
            tail.replace_range(..cut, "…");
        }
        tail
    }

    /// Takes over the place of an earlier process: its follower, not its text.
    pub(crate) fn take_over(&mut self) -> Stderr {
        Stderr::new(self.follower.take())
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
        assert_eq!(stderr.text().len(), KEPT);
        assert!(stderr.tail().ends_with("last words"));
        assert!(stderr.tail().len() <= SHOWN_BYTES + 3);
        stderr.push(&vec![b'b'; 10 * KEPT]);
        assert_eq!(stderr.text(), "b".repeat(KEPT));
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
