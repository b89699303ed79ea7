//! The buffer of received bytes, which splits the bytes into lines, and [`Message`], a line that shares its memory.
//!
//! ```text
//!          start        scanned            end              data.len()      capacity
//!   data ──┼────────────┼──────────────────┼────────────────┼───────────────┤
//!    used  │ a line, or the beginning of one│ space()        │ reserved      │
//! ```

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;
use core::ops::{Deref, Range};

use memchr::memchr;

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

/// The bytes of a received message, which outlive the receive buffer's next read.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// A message in memory of its own.
    Owned(Vec<u8>),
    /// A large message in the memory of the receive buffer, which uses that memory again once the message is dropped.
    Lent { memory: Arc<Vec<u8>>, range: Range<usize> },
}

impl Deref for Message {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Message::Owned(bytes) => bytes,
            Message::Lent { memory, range } => memory.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl From<Vec<u8>> for Message {
    fn from(bytes: Vec<u8>) -> Self {
        Message::Owned(bytes)
    }
}

impl From<&[u8]> for Message {
    fn from(bytes: &[u8]) -> Self {
        Message::Owned(bytes.to_vec())
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
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
mod tests;
