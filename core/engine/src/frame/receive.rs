//! The buffer of received bytes, which splits the bytes into lines.
//!
//! ```text
//!          start        scanned            end              data.len()      capacity
//!   data ──┼────────────┼──────────────────┼────────────────┼───────────────┤
//!    used  │ a line, or the beginning of one│ space()        │ reserved      │
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use memchr::memchr;

use super::Message;
use mcpwire_text::BOM;

/// Initial size of the receive buffer in bytes: 1 KiB, which saves memory if a program has many connections.
const INITIAL_SIZE: usize = 1024;

/// Size of the receive buffer after a read has filled [`INITIAL_SIZE`], in bytes: 8 KiB, enough for most responses.
const SMALL_SIZE: usize = 8 * 1024;

/// Maximum number of bytes by which the receive buffer grows at a time: 64 KiB, the capacity of a Linux pipe.
const MAX_GROWTH: usize = 64 * 1024;

/// Minimum length of a [`Line`] that becomes a [`Message`] without a copy, in bytes: 64 KiB.
const LARGE_LINE: usize = 64 * 1024;

/// Maximum capacity of memory that the receive buffer uses for several messages, in bytes: 2 MiB. It bounds what a
/// connection keeps between large messages.
const MAX_REUSED: usize = 2 * 1024 * 1024;

/// Number of bytes retained from the start of an overlong line: 512. They usually contain the JSON-RPC id of a response
/// whose id precedes its `result`.
const HEAD_LEN: usize = 512;

/// Number of bytes retained from the end of an overlong line: 128. They usually contain the JSON-RPC id of a response
/// whose id follows its `result`.
const TAIL_LEN: usize = 128;

/// A received line, or the start or the end of a line that exceeds the size limit.
pub(crate) enum FrameInput<'a> {
    Line(Line<'a>),
    /// The start of a line that exceeds the size limit: at most the first 512 bytes. The bytes after them are
    /// discarded.
    Overlong {
        head: Vec<u8>,
    },
    /// The end of a line that exceeds the size limit: at most the last 128 bytes. The bytes before them were discarded.
    OverlongEnd {
        tail: Vec<u8>,
    },
}

/// One received line without its line break. The bytes are still in the receive buffer.
pub(crate) struct Line<'a> {
    buffer: &'a mut ReceiveBuffer,
    range: Range<usize>,
}

impl AsRef<[u8]> for Line<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.buffer.data[self.range.clone()]
    }
}

impl From<Line<'_>> for Message {
    /// Converts the line to a message.
    ///
    /// A line of 64 KiB or more takes over the memory of the receive buffer, so that the line is not copied to new
    /// memory.
    fn from(Line { buffer, range }: Line<'_>) -> Message {
        if range.len() < LARGE_LINE {
            return Message::Owned(buffer.data[range].to_vec());
        }
        let rest = buffer.data[buffer.start..buffer.end].to_vec();
        let end = rest.len();
        let memory = Arc::new(buffer.replace(rest, end));
        if memory.capacity() <= MAX_REUSED {
            buffer.lent = Some(Arc::clone(&memory));
        }
        Message::Lent { memory, range }
    }
}

/// Collects received bytes, splits them into lines, and discards lines that exceed `max_message`.
///
/// All positions are indexes into `data`; the drawing at the top of this file shows them.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    data: Vec<u8>,
    /// Index of the first byte of the first line that [`ReceiveBuffer::next`] has not returned.
    start: usize,
    /// Index up to which the bytes were searched for a line break. `data[start..scanned]` contains none.
    scanned: usize,
    /// Index after the last received byte.
    end: usize,
    /// Maximum length of a line in bytes. A longer line is discarded.
    max_message: usize,
    /// The last bytes received of the overlong line that is being discarded, at most [`TAIL_LEN`]. `None` if no line is
    /// being discarded.
    discarding: Option<Vec<u8>>,
    /// The memory of the last large message, to receive the next one without allocating memory and filling it with
    /// zeros. `None` if the line after that message was not large, or if the message was larger than [`MAX_REUSED`].
    lent: Option<Arc<Vec<u8>>>,
}

impl ReceiveBuffer {
    pub(crate) fn new(max_message: usize) -> Self {
        ReceiveBuffer { data: Vec::new(), start: 0, scanned: 0, end: 0, max_message, discarding: None, lent: None }
    }

    /// Returns the free part of the buffer for the next read, which is never empty. Returns `None` if the buffer is
    /// full of lines that [`Self::next`] has not returned.
    pub(crate) fn space(&mut self) -> Option<&mut [u8]> {
        self.make_space();
        let end = self.data.len().min(self.end + MAX_GROWTH);
        let space = &mut self.data[self.end..end];
        (!space.is_empty()).then_some(space)
    }

    /// Frees the memory of an empty receive buffer, and gives up that of the last large message.
    pub(crate) fn release_if_empty(&mut self) {
        if self.is_empty() {
            self.release();
            self.lent = None;
        }
    }

    /// Makes space for the next read: moves the received bytes to the start of the buffer, or enlarges the buffer. Does
    /// neither if a large buffer may contain complete lines, which have to be processed first.
    fn make_space(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.scanned = 0;
            self.end = 0;
        }
        if self.end < self.data.len() {
            return;
        }
        if self.start > 0 && self.start >= self.data.len() / 2 {
            // At least half of the buffer is free, so each byte is moved at most once before the buffer is full
            // again.
            self.data.copy_within(self.start..self.end, 0);
            self.scanned -= self.start;
            self.end -= self.start;
            self.start = 0;
            return;
        }
        // A large buffer grows only if a single line fills it, not because complete lines have not been read.
        if self.scanned < self.end && self.data.len() >= MAX_GROWTH {
            return;
        }
        if self.data.len() >= SMALL_SIZE
            && let Some(mut memory) = self.take_back()
        {
            let received = self.end - self.start;
            memory[..received].copy_from_slice(&self.data[self.start..self.end]);
            self.replace(memory, received);
            return;
        }
        let len = match self.data.len() {
            0 => INITIAL_SIZE,
            len if len < SMALL_SIZE => SMALL_SIZE,
            len => len + len.min(MAX_GROWTH),
        };
        if len > self.data.capacity() {
            // Reserve address space in proportion to the size of the buffer, but touch the memory in small steps.
            let ahead = (self.data.len() / 2).min(self.max_message).max(len - self.data.len());
            self.data.reserve_exact(ahead);
        }
        self.data.resize(len, 0);
    }

    /// Adds `n` bytes to the received bytes, after they were read into the slice that [`Self::space`] returned.
    pub(crate) fn filled(&mut self, n: usize) {
        self.end = self.end.saturating_add(n).min(self.data.len());
        if self.end == INITIAL_SIZE && self.data.len() == INITIAL_SIZE {
            // More data probably follows, and many small reads cost more than a larger buffer.
            self.data.resize(SMALL_SIZE, 0);
        }
    }

    /// Takes back the memory of the last large message, if that message was dropped and its memory is larger than the
    /// buffer.
    fn take_back(&mut self) -> Option<Vec<u8>> {
        let lent = self.lent.take_if(|lent| lent.len() > self.data.len() && Arc::get_mut(lent).is_some())?;
        Arc::into_inner(lent)
    }

    fn release(&mut self) {
        self.replace(Vec::new(), 0);
    }

    /// Replaces the buffer by `data`, whose first `end` bytes were received. Returns the memory of the old buffer.
    fn replace(&mut self, data: Vec<u8>, end: usize) -> Vec<u8> {
        (self.start, self.scanned, self.end) = (0, 0, end);
        mem::replace(&mut self.data, data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end && self.discarding.is_none()
    }

    /// Returns the next complete line, or the first or last bytes of an overlong line. Returns `None` if more bytes
    /// must be received first.
    pub(crate) fn next(&mut self) -> Option<FrameInput<'_>> {
        loop {
            let newline = memchr(b'\n', &self.data[self.scanned..self.end]).map(|at| self.scanned + at);
            if self.discarding.is_some() {
                return self.discard(newline);
            }
            let Some(newline) = newline else {
                self.scanned = self.end;
                // The overlong line is reported once enough bytes for its head have been received.
                if self.end - self.start > self.max_message.max(BOM.len() + HEAD_LEN) {
                    let head = self.begin_discarding(self.end);
                    self.release();
                    return Some(FrameInput::Overlong { head });
                }
                if self.start == self.end && self.data.len() > SMALL_SIZE {
                    self.release();
                }
                return None;
            };
            if newline - self.start > self.max_message {
                // The line has ended, so the next call returns its end.
                return Some(FrameInput::Overlong { head: self.begin_discarding(newline) });
            }
            let range = self.trim(self.start..newline);
            self.start = newline + 1;
            self.scanned = self.start;
            if !range.is_empty() {
                if range.len() < LARGE_LINE {
                    self.lent = None;
                }
                return Some(FrameInput::Line(Line { buffer: self, range }));
            }
        }
    }

    /// Returns the last line of the stream if no line break follows it, after the stream has ended. Returns `None` if
    /// that line is empty or exceeds the size limit.
    pub(crate) fn take_last(&mut self) -> Option<Line<'_>> {
        if self.discarding.take().is_some() || self.end - self.start > self.max_message {
            self.start = self.end;
        }
        let range = self.trim(self.start..self.end);
        self.start = self.end;
        self.scanned = self.end;
        (!range.is_empty()).then_some(Line { buffer: self, range })
    }

    /// Shortens the range of a line: leaves out a byte order mark at its start, and spaces, tabs and carriage returns
    /// at its end.
    fn trim(&self, mut range: Range<usize>) -> Range<usize> {
        if self.data[range.clone()].starts_with(BOM) {
            range.start += BOM.len();
        }
        while range.end > range.start && matches!(self.data[range.end - 1], b'\r' | b' ' | b'\t') {
            range.end -= 1;
        }
        range
    }

    /// Starts to discard an overlong line of which the bytes up to `end` were received. Stores the last of these bytes in
    /// `discarding`, and returns the first 512 without a byte order mark.
    fn begin_discarding(&mut self, end: usize) -> Vec<u8> {
        let line = &self.data[self.start..end];
        self.discarding = Some(line[line.len().saturating_sub(TAIL_LEN)..].to_vec());
        let line = line.strip_prefix(BOM).unwrap_or(line);
        let head = line[..HEAD_LEN.min(line.len())].to_vec();
        (self.start, self.scanned) = (end, end);
        head
    }

    fn discard(&mut self, newline: Option<usize>) -> Option<FrameInput<'_>> {
        let end = newline.unwrap_or(self.end);
        let tail = self.discarding.as_mut()?;
        let fresh = &self.data[self.start..end];
        tail.extend_from_slice(&fresh[fresh.len().saturating_sub(TAIL_LEN)..]);
        tail.drain(..tail.len().saturating_sub(TAIL_LEN));
        self.start = newline.map_or(self.end, |at| at + 1);
        self.scanned = self.start;
        newline?;
        self.discarding.take().map(|tail| FrameInput::OverlongEnd { tail })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    /// Passes `bytes` to a buffer in pieces of `size` bytes, and returns the lines that the buffer returns.
    fn run(bytes: &[u8], size: usize, max: usize) -> Vec<String> {
        let mut receive = ReceiveBuffer::new(max);
        let mut seen = Vec::new();
        for mut piece in bytes.chunks(size) {
            while !piece.is_empty() {
                let space = receive.space().expect("every line was taken");
                let n = space.len().min(piece.len());
                space[..n].copy_from_slice(&piece[..n]);
                receive.filled(n);
                piece = &piece[n..];
                while let Some(input) = receive.next() {
                    seen.push(match input {
                        FrameInput::Line(line) if line.as_ref().len() % 2 == 0 => {
                            String::from_utf8(Message::from(line).to_vec()).unwrap()
                        }
                        FrameInput::Line(line) => String::from_utf8(line.as_ref().to_vec()).unwrap(),
                        FrameInput::Overlong { .. } => "<long".into(),
                        FrameInput::OverlongEnd { tail } => alloc::format!("{}>", String::from_utf8(tail).unwrap()),
                    });
                }
            }
        }
        seen.extend(receive.take_last().map(|line| String::from_utf8(line.as_ref().to_vec()).unwrap()));
        seen
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        let big = "x".repeat(200_000);
        let text = alloc::format!(
            "\u{feff}one\r\n\n  \ntwo\n{big}\nthree\n\u{feff}four\r\n\u{feff}\n\u{feff}\u{feff}five\n\u{feff}rest"
        );
        for size in [1, 2, 3, 7, 4096, 70_000, text.len()] {
            assert_eq!(
                run(text.as_bytes(), size, 1 << 20),
                ["one", "two", &big, "three", "four", "\u{feff}five", "rest"],
                "{size}"
            );
        }
    }

    #[test]
    fn an_overlong_line_is_discarded_and_the_next_is_not() {
        let text = alloc::format!("a\n{}END\nb\n", "x".repeat(5000));
        let tail = alloc::format!("{}END>", "x".repeat(TAIL_LEN - 3));
        for size in [1, 100, 999, 100_000] {
            assert_eq!(run(text.as_bytes(), size, 1000), ["a", "<long", &tail, "b"], "{size}");
        }
    }

    #[test]
    fn a_limit_below_what_is_told_of_a_line_is_kept_too() {
        let text = alloc::format!("a\n{}END\nb\n{}", "x".repeat(150), "y".repeat(150));
        let tail = alloc::format!("{}END>", "x".repeat(TAIL_LEN - 3));
        for size in [1, 99, 101, 100_000] {
            assert_eq!(run(text.as_bytes(), size, 100), ["a", "<long", &tail, "b"], "{size}");
        }
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes() {
        let text = alloc::format!("{}\n", "x".repeat(1000));
        assert_eq!(run(text.as_bytes(), 100, 1000).len(), 1);
        assert_eq!(run(text.as_bytes(), 100, 1000)[0].len(), 1000);
    }

    #[test]
    fn a_big_message_leaves_a_small_buffer() {
        let mut receive = ReceiveBuffer::new(64 << 20);
        let big = alloc::vec![b'x'; 4 << 20];
        let mut rest = &big[..];
        while !rest.is_empty() {
            let space = receive.space().expect("the line goes on");
            let n = space.len().min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            receive.filled(n);
            rest = &rest[n..];
            assert!(receive.next().is_none());
        }
        let space = receive.space().expect("the line goes on");
        space[..5].copy_from_slice(b"\nnext");
        receive.filled(5);
        assert!(receive.data.capacity() < (4 << 20) * 8 / 5, "{}", receive.data.capacity());
        let Some(FrameInput::Line(line)) = receive.next() else { panic!() };
        assert_eq!(Message::from(line).len(), 4 << 20);
        assert!(receive.lent.is_none(), "so much memory is not kept");
        assert!(receive.data.capacity() <= MAX_GROWTH);
        assert_eq!(&receive.data[..receive.end], b"next");
    }

    /// Passes a line of `len` bytes to the buffer, and returns the line as a message.
    fn receive_line(receive: &mut ReceiveBuffer, len: usize) -> Message {
        let mut bytes = alloc::vec![b'x'; len];
        bytes.push(b'\n');
        let mut rest = &bytes[..];
        loop {
            let space = receive.space().expect("the line goes on");
            let n = space.len().min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            receive.filled(n);
            rest = &rest[n..];
            if let Some(FrameInput::Line(line)) = receive.next() {
                return line.into();
            }
        }
    }

    #[test]
    fn the_memory_of_a_large_message_receives_the_next_one_after_it_was_dropped() {
        let mut receive = ReceiveBuffer::new(64 << 20);
        let first = receive_line(&mut receive, 1 << 20);
        let memory = first.as_ptr();
        let second = receive_line(&mut receive, 1 << 20);
        assert_ne!(second.as_ptr(), memory, "the first message is still read");
        assert_eq!((first.len(), second.len()), (1 << 20, 1 << 20));
        let memory = second.as_ptr();
        drop(second);
        for _ in 0..3 {
            let next = receive_line(&mut receive, 1 << 20);
            assert_eq!(next.as_ptr(), memory);
            assert!(next.iter().all(|byte| *byte == b'x'));
        }
    }

    #[test]
    fn the_memory_of_a_large_message_is_given_up_when_a_small_one_follows_or_the_connection_is_idle() {
        let mut receive = ReceiveBuffer::new(64 << 20);
        let small_line: fn(&mut ReceiveBuffer) = |receive| drop(receive_line(receive, 10));
        for give_up in [small_line, ReceiveBuffer::release_if_empty] {
            drop(receive_line(&mut receive, 1 << 20));
            assert!(receive.lent.is_some());
            assert!(receive.data.capacity() <= MAX_GROWTH);
            give_up(&mut receive);
            assert!(receive.lent.is_none());
        }
    }

    #[test]
    fn a_reader_that_does_not_take_lines_gets_no_space() {
        let mut receive = ReceiveBuffer::new(1000);
        let mut total = 0;
        while let Some(space) = receive.space() {
            assert!(!space.is_empty(), "a read into no space would look like the end of the stream");
            space.fill(b'\n');
            let n = space.len();
            receive.filled(n);
            total += n;
            assert!(total < 1 << 20);
        }
        while receive.next().is_some() {}
        assert!(receive.space().is_some_and(|space| !space.is_empty()), "every line was taken");
    }
}
