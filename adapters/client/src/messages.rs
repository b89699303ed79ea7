//! [`MessagesToLines`], [`LinesToMessages`]: connect a client to a transport of whole messages, such as a WebSocket.
//!
//! The engine reads and writes lines with one message each. These types convert between messages and lines, without I/O.

/// Converts received messages to lines, and copies the lines into the buffer of a reader.
///
/// A line break within a message becomes a space. This does not change the meaning of a valid message, because JSON allows line
/// breaks between tokens only. The engine applies its size limit to the lines.
#[derive(Debug)]
pub struct MessagesToLines<T> {
    /// The message that is being copied. `None` if the next message is needed.
    message: Option<T>,
    /// Number of bytes of `message` that were already copied.
    copied: usize,
}

impl<T> Default for MessagesToLines<T> {
    fn default() -> Self {
        MessagesToLines { message: None, copied: 0 }
    }
}

impl<T: AsRef<[u8]>> MessagesToLines<T> {
    /// Returns whether the last message was copied completely. Then call [`set_message`](Self::set_message) with the next
    /// message.
    pub fn needs_message(&self) -> bool {
        self.message.is_none()
    }

    /// Sets the message to copy. If the previous message was not copied completely, its rest is lost.
    pub fn set_message(&mut self, message: T) {
        self.message = Some(message);
        self.copied = 0;
    }

    /// Copies the next bytes of the line into `buf`, and returns the number of copied bytes. Returns 0 only if
    /// [`needs_message`](Self::needs_message) is `true` or `buf` is empty.
    pub fn read(&mut self, buf: &mut [u8]) -> usize {
        let Some(message) = &self.message else { return 0 };
        let rest = message.as_ref().get(self.copied..).unwrap_or_default();
        let n = rest.len().min(buf.len());
        let (text, free) = buf.split_at_mut(n);
        text.copy_from_slice(&rest[..n]);
        for byte in text.iter_mut().filter(|byte| **byte == b'\n') {
            *byte = b' ';
        }
        self.copied += n;
        let Some(end) = free.first_mut() else { return n };
        *end = b'\n';
        self.message = None;
        n + 1
    }
}

/// Splits the bytes that the engine writes into messages to send: each line is one message.
#[derive(Debug, Default)]
pub struct LinesToMessages {
    /// The first bytes of a line. Its line break was not written yet.
    begun: Vec<u8>,
}

impl LinesToMessages {
    /// Takes bytes up to the end of the current line. Returns the number of taken bytes, and the message if the line is complete
    /// and not empty. Call this again with the remaining bytes.
    pub fn write(&mut self, bytes: &[u8]) -> (usize, Option<String>) {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.begun.extend_from_slice(bytes);
            return (bytes.len(), None);
        };
        self.begun.extend_from_slice(&bytes[..end]);
        let line = std::mem::take(&mut self.begun);
        // The engine writes UTF-8 only. The lossy conversion is a fallback that keeps the text valid.
        let message =
            String::from_utf8(line).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        (end + 1, Some(message).filter(|message| !message.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_line_breaks_is_one_line() {
        let mut lines = MessagesToLines::default();
        lines.set_message("{\n  \"a\": \"b\\n\"\r\n}");
        let mut buf = [0; 64];
        let n = lines.read(&mut buf);
        assert_eq!(&buf[..n], b"{   \"a\": \"b\\n\"\r }\n");
        assert!(lines.needs_message());
        assert_eq!(lines.read(&mut buf), 0);
    }

    #[test]
    fn a_line_break_follows_a_message_that_filled_the_buffer() {
        let mut lines = MessagesToLines::default();
        lines.set_message("ab");
        let mut buf = [0; 2];
        assert_eq!((lines.read(&mut buf), &buf), (2, b"ab"));
        assert!(!lines.needs_message());
        assert_eq!((lines.read(&mut buf), buf[0]), (1, b'\n'));
        assert!(lines.needs_message());
    }

    #[test]
    fn a_line_becomes_a_message_when_it_is_complete() {
        let mut messages = LinesToMessages::default();
        assert_eq!(messages.write(b"{\"a\""), (4, None));
        assert_eq!(messages.write(b":1}\n{}\n"), (4, Some("{\"a\":1}".into())));
        assert_eq!(messages.write(b"{}\n"), (3, Some("{}".into())));
        assert_eq!(messages.write(b"\n"), (1, None));
    }
}
