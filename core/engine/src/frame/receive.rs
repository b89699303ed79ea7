//! The receive buffer.
//!
//! ```text
//!          start        scanned            end              data.len()      capacity
//!   data ──┼────────────┼──────────────────┼────────────────┼───────────────┤
//!    used  │ a line, or the beginning of one│ space()        │ reserved      │
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use memchr::memchr;

/// What a connection that has been idle reads into first: most answers fit, and it costs next to nothing to make.
const FIRST: usize = 1024;

/// What a connection reads into. An answer of usual size fits.
const SMALL: usize = 8 * 1024;

/// How much is offered to one read at least once a message has outgrown the small buffer: what a pipe holds on Linux.
const STEP: usize = 64 * 1024;

/// The largest buffer that is kept between one large message and the next.
const KEPT: usize = 2 * 1024 * 1024;

/// From this size a line is handed on with the buffer that it is in, and not copied out of it.
const LARGE: usize = 64 * 1024;

/// How much of the beginning and of the end of an over-long line is kept, to find its id.
const HEAD: usize = 512;
const TAIL: usize = 128;

/// What the buffer holds next.
pub(crate) enum Input<'a> {
    Line(Line<'a>),
    /// A line passed the limit; the rest of it is being discarded. The head is what it began with.
    Overlong {
        head: Vec<u8>,
    },
    /// That line has ended. The tail is what it ended with.
    OverlongEnd {
        tail: Vec<u8>,
    },
}

/// One line, without its line break, still in the buffer.
pub(crate) struct Line<'a> {
    buffer: &'a mut Receive,
    range: Range<usize>,
}

impl Line<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer.data[self.range.clone()]
    }

    /// The line as bytes of its own. A large one takes the buffer with it; the few bytes behind it move to a new one.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let Line { buffer, range } = self;
        if range.len() < LARGE {
            return buffer.data[range].to_vec();
        }
        let rest = buffer.data[buffer.start..buffer.end].to_vec();
        let mut taken = core::mem::take(&mut buffer.data);
        taken.truncate(range.end);
        if range.start > 0 {
            taken.drain(..range.start);
        }
        buffer.start = 0;
        buffer.scanned = 0;
        buffer.end = rest.len();
        buffer.data = rest;
        taken
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each for itself, and none of them a state of another")]
#[derive(Debug)]
pub(crate) struct Receive {
    data: Vec<u8>,
    start: usize,
    scanned: usize,
    end: usize,
    max_message: usize,
    /// While an over-long line is being discarded: the last bytes of it.
    discarding: Option<Vec<u8>>,
    at_beginning: bool,
    /// A read has filled the first buffer.
    busy: bool,
    /// The buffer is that of a large message, and no smaller one has come since.
    expects_large: bool,
    /// No whole line waits: what the buffer holds is the beginning of one.
    exhausted: bool,
}

impl Receive {
    pub(crate) fn new(max_message: usize) -> Self {
        Receive {
            data: Vec::new(),
            start: 0,
            scanned: 0,
            end: 0,
            max_message,
            discarding: None,
            at_beginning: true,
            busy: false,
            expects_large: false,
            exhausted: true,
        }
    }

    /// Where the next bytes go. Empty if a whole line waits and the buffer is full: the reader is to wait too.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.make_space();
        let end = self.end;
        &mut self.data[end..]
    }

    /// Gives back the small buffer, if nothing is in it.
    pub(crate) fn let_go(&mut self) {
        if self.is_empty() && self.data.len() <= SMALL {
            self.release();
        }
    }

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
            // At least half of the buffer is used up: each byte moves once at most for each time the buffer is filled.
            self.data.copy_within(self.start..self.end, 0);
            self.scanned -= self.start;
            self.end -= self.start;
            self.start = 0;
            return;
        }
        // The buffer grows for the sake of one long line, never because lines are not taken.
        if !self.exhausted && self.data.len() >= STEP {
            return;
        }
        let len = match self.data.len() {
            0 if !self.busy => FIRST,
            len if len < SMALL => SMALL,
            len => len + len.min(STEP),
        };
        if len > self.data.capacity() {
            // Address space is reserved ahead in proportion, memory is touched a step at a time.
            let ahead = (self.data.len() / 2).min(self.max_message).max(len - self.data.len());
            self.data.reserve_exact(ahead);
        }
        self.data.resize(len, 0);
    }

    /// Tells how many bytes of [`Receive::space`] were filled.
    pub(crate) fn filled(&mut self, n: usize) {
        self.end = self.end.saturating_add(n).min(self.data.len());
        self.exhausted = false;
        if self.end == FIRST && self.data.len() == FIRST {
            // There may be more to come than that, and many small reads cost more than a buffer.
            self.busy = true;
            self.data.resize(SMALL, 0);
        }
    }

    /// Takes back the bytes of a line that was handed on with the buffer, to be read into again: what comes after one large
    /// message is often another, and new memory for each costs more than reading it. The next small message lets go of it.
    pub(crate) fn recycle(&mut self, bytes: Vec<u8>) {
        let fits = (LARGE..=KEPT).contains(&bytes.len()) && bytes.len() > self.data.len();
        if !fits || self.start < self.end {
            self.shrink();
            return;
        }
        self.expects_large = true;
        self.start = 0;
        self.scanned = 0;
        self.end = 0;
        self.data = bytes;
    }

    /// Lets go of a buffer that a message has made large, unless another large one is expected.
    fn shrink(&mut self) {
        if self.start == self.end && self.data.len() > SMALL && !self.expects_large {
            self.release();
        }
    }

    fn release(&mut self) {
        self.data = Vec::new();
        self.busy = false;
        self.start = 0;
        self.scanned = 0;
        self.end = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end && self.discarding.is_none()
    }

    /// The next line that is whole, or what there is to say of one that is too long.
    pub(crate) fn next(&mut self) -> Option<Input<'_>> {
        loop {
            let newline = memchr(b'\n', &self.data[self.scanned..self.end]).map(|at| self.scanned + at);
            if self.discarding.is_some() {
                return self.discard(newline);
            }
            let Some(newline) = newline else {
                self.scanned = self.end;
                // Its beginning is told whole: not before that much of it is there.
                if self.end - self.start > self.max_message.max(HEAD) {
                    return Some(self.begin_discarding());
                }
                self.exhausted = true;
                self.shrink();
                return None;
            };
            let range = self.start..newline;
            self.start = newline + 1;
            self.scanned = self.start;
            if range.len() > self.max_message {
                let head = self.data[range.start..range.start + HEAD.min(range.len())].to_vec();
                let tail = self.data[range.end - TAIL.min(range.len())..range.end].to_vec();
                self.discarding = Some(tail);
                // The newline is there: the end is told by the next call.
                self.start = newline;
                self.scanned = newline;
                return Some(Input::Overlong { head });
            }
            let range = self.trim(range);
            if !range.is_empty() {
                self.expects_large &= range.len() >= LARGE;
                return Some(Input::Line(Line { buffer: self, range }));
            }
        }
    }

    /// At the end of the stream: what stands after the last newline.
    pub(crate) fn last(&mut self) -> Option<Line<'_>> {
        if self.discarding.take().is_some() || self.end - self.start > self.max_message {
            self.start = self.end;
        }
        let range = self.trim(self.start..self.end);
        self.start = self.end;
        self.scanned = self.end;
        (!range.is_empty()).then_some(Line { buffer: self, range })
    }

    /// Without a carriage return at the end, a byte order mark at the beginning of the stream, and a blank line's space.
    fn trim(&mut self, mut range: Range<usize>) -> Range<usize> {
        if core::mem::take(&mut self.at_beginning) && self.data[range.clone()].starts_with(b"\xef\xbb\xbf") {
            range.start += 3;
        }
        while range.end > range.start && matches!(self.data[range.end - 1], b'\r' | b' ' | b'\t') {
            range.end -= 1;
        }
        range
    }

    fn begin_discarding(&mut self) -> Input<'static> {
        let head = self.data[self.start..self.end][..HEAD].to_vec();
        let tail = self.data[self.end - TAIL..self.end].to_vec();
        self.discarding = Some(tail);
        self.release();
        Input::Overlong { head }
    }

    fn discard(&mut self, newline: Option<usize>) -> Option<Input<'_>> {
        let upto = newline.unwrap_or(self.end);
        let tail = self.discarding.as_mut()?;
        let fresh = &self.data[self.start..upto];
        tail.extend_from_slice(&fresh[fresh.len().saturating_sub(TAIL)..]);
        tail.drain(..tail.len().saturating_sub(TAIL));
        self.start = newline.map_or(self.end, |at| at + 1);
        self.scanned = self.start;
        self.exhausted = newline.is_none();
        newline?;
        self.at_beginning = false;
        self.discarding.take().map(|tail| Input::OverlongEnd { tail })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    /// Feeds `bytes` in pieces of `size` and writes down what comes out.
    fn run(bytes: &[u8], size: usize, max: usize) -> Vec<String> {
        let mut receive = Receive::new(max);
        let mut seen = Vec::new();
        for mut piece in bytes.chunks(size) {
            while !piece.is_empty() {
                let space = receive.space();
                let n = space.len().min(piece.len());
                assert!(n > 0, "no space although every line was taken");
                space[..n].copy_from_slice(&piece[..n]);
                receive.filled(n);
                piece = &piece[n..];
                while let Some(input) = receive.next() {
                    seen.push(match input {
                        Input::Line(line) if line.bytes().len() % 2 == 0 => {
                            String::from_utf8(line.into_bytes()).unwrap()
                        }
                        Input::Line(line) => String::from_utf8(line.bytes().to_vec()).unwrap(),
                        Input::Overlong { .. } => "<long".into(),
                        Input::OverlongEnd { tail } => alloc::format!("{}>", String::from_utf8(tail).unwrap()),
                    });
                }
            }
        }
        seen.extend(receive.last().map(|line| String::from_utf8(line.bytes().to_vec()).unwrap()));
        seen
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        let big = "x".repeat(200_000);
        let text = alloc::format!("\u{feff}one\r\n\n  \ntwo\n{big}\nthree\n\u{feff}four\nrest");
        for size in [1, 2, 3, 7, 4096, 70_000, text.len()] {
            assert_eq!(
                run(text.as_bytes(), size, 1 << 20),
                ["one", "two", &big, "three", "\u{feff}four", "rest"],
                "{size}"
            );
        }
    }

    #[test]
    fn an_overlong_line_is_discarded_and_the_next_is_not() {
        let text = alloc::format!("a\n{}END\nb\n", "x".repeat(5000));
        let tail = alloc::format!("{}END>", "x".repeat(TAIL - 3));
        for size in [1, 100, 999, 100_000] {
            assert_eq!(run(text.as_bytes(), size, 1000), ["a", "<long", &tail, "b"], "{size}");
        }
    }

    #[test]
    fn a_limit_below_what_is_told_of_a_line_is_kept_too() {
        let text = alloc::format!("a\n{}END\nb\n{}", "x".repeat(150), "y".repeat(150));
        let tail = alloc::format!("{}END>", "x".repeat(TAIL - 3));
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
        let mut receive = Receive::new(64 << 20);
        let big = alloc::vec![b'x'; 4 << 20];
        let mut rest = &big[..];
        while !rest.is_empty() {
            let space = receive.space();
            let n = space.len().min(rest.len());
            assert!(n > 0, "no space for a line that goes on");
            space[..n].copy_from_slice(&rest[..n]);
            receive.filled(n);
            rest = &rest[n..];
            assert!(receive.next().is_none());
        }
        let space = receive.space();
        space[..5].copy_from_slice(b"\nnext");
        receive.filled(5);
        assert!(receive.data.capacity() < (4 << 20) * 8 / 5, "{}", receive.data.capacity());
        let Some(Input::Line(line)) = receive.next() else { panic!() };
        assert_eq!(line.into_bytes().len(), 4 << 20);
        assert!(receive.data.capacity() <= STEP);
        assert_eq!(&receive.data[..receive.end], b"next");
    }

    #[test]
    fn a_large_buffer_is_kept_for_a_large_message_only() {
        let mut receive = Receive::new(64 << 20);
        receive.recycle(alloc::vec![0; 1 << 20]);
        assert!(receive.space().len() == 1 << 20);
        receive.space()[..2].copy_from_slice(b"x\n");
        receive.filled(2);
        assert!(matches!(receive.next(), Some(Input::Line(_))));
        assert!(receive.next().is_none());
        assert!(receive.data.capacity() <= SMALL);
        receive.recycle(alloc::vec![0; KEPT + 1]);
        assert!(receive.data.capacity() <= SMALL);
    }

    #[test]
    fn a_reader_that_does_not_take_lines_gets_no_space() {
        let mut receive = Receive::new(1000);
        let mut total = 0;
        loop {
            let space = receive.space();
            if space.is_empty() {
                break;
            }
            space.fill(b'\n');
            let n = space.len();
            receive.filled(n);
            total += n;
            assert!(total < 1 << 20);
        }
    }
}
