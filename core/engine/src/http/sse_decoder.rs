//! [`SseDecoder`]: decodes server-sent events from pieces of bytes ([HTML, "Interpreting an event
//! stream"](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use memchr::memchr2;

use mcpwire_text::BOM;

/// Maximum length in bytes of an SSE line whose field is not `data`: 4 KiB. Longer lines are ignored. The event ids of
/// known servers are shorter than 100 bytes.
const MAX_FIELD: usize = 4 * 1024;

/// Number of bytes that the decoder keeps of event data that exceeds the limit: 1 KiB, enough to find the JSON-RPC id
/// of a message.
const CUT_LENGTH: usize = 1024;

const DATA: &[u8] = b"data:";

/// A server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The type of the event, from the `event` field. Empty if the event has no such field: its type is then `message`.
    pub name: String,
    /// The values of the `data` fields, joined with newlines. The decoder does not check that they are UTF-8.
    pub data: Vec<u8>,
    /// Whether the data of this event exceeded the decoder's limit. If so, `data` contains only the beginning.
    pub is_truncated: bool,
}

impl SseEvent {
    /// Returns whether the event data is empty or white space. Servers send such events only for their event id.
    pub fn is_blank(&self) -> bool {
        self.data.trim_ascii().is_empty()
    }
}

/// Decodes one event stream, which may arrive in pieces that are split anywhere.
///
/// ```
/// use mcpwire_core::internal::SseDecoder;
///
/// let mut decoder = SseDecoder::new(1 << 20);
/// let mut bytes = &b"id: 7\nretry: 500\ndata: {}\n\n"[..];
/// let event = decoder.next(&mut bytes).expect("the event is complete");
/// assert_eq!(event.data, b"{}");
/// assert_eq!(decoder.last_event_id(), Some("7"));
/// assert_eq!(decoder.next(&mut bytes), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SseDecoder {
    /// Maximum length in bytes of the data of one server-sent event.
    limit: usize,
    /// The part of the current line that has arrived. Empty if the line is a `data` field, whose value is stored in
    /// `data`.
    line: Vec<u8>,
    state: LineState,
    /// Whether the last byte was a carriage return. If a line feed follows, both are one line end.
    is_after_cr: bool,
    /// Whether the decoder has passed the start of the stream, which may be a byte order mark.
    has_started: bool,
    /// The data of the current event. `None` if the event has no `data` field so far.
    data: Option<Vec<u8>>,
    /// Whether the data of the current event exceeds the limit. If so, at most its first [`CUT_LENGTH`] bytes are stored.
    is_cut: bool,
    name: String,
    /// The `id` field of the current event. `None` if the event has no `id` so far.
    id: Option<String>,
    /// The id of the last event that had an id. Empty if no event had one.
    last_id: String,
    retry: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineState {
    /// The decoder reads a line whose field is not `data`, or is not known yet. It collects the bytes in `line` until the line
    /// ends.
    #[default]
    Line,
    /// The line is a `data` field. Its bytes are appended to the event data.
    Data,
    /// The line is a comment, or longer than [`MAX_FIELD`]. Its bytes are ignored.
    Skip,
}

impl SseDecoder {
    /// Creates a decoder for one stream of server-sent events. If the data of an event is longer than `limit` bytes,
    /// the decoder keeps only the beginning of the data.
    pub fn new(limit: usize) -> Self {
        SseDecoder { limit, ..SseDecoder::default() }
    }

    /// Reads `bytes` up to the end of the next event, and returns that event. Returns `None` if the event is still
    /// incomplete after all bytes.
    ///
    /// Removes the bytes that it has read from `bytes`. Call this method until it returns `None`, then pass in the next
    /// bytes of the stream.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<SseEvent> {
        if self.is_after_cr && !bytes.is_empty() {
            self.is_after_cr = false;
            *bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while !bytes.is_empty() {
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.read_part(bytes);
                *bytes = &[];
                return None;
            };
            let (part, rest) = bytes.split_at(end);
            self.read_part(part);
            *bytes = &rest[1..];
            if rest[0] == b'\r' {
                match bytes.strip_prefix(b"\n") {
                    Some(after) => *bytes = after,
                    None => self.is_after_cr = bytes.is_empty(),
                }
            }
            if let Some(event) = self.line_end() {
                return Some(event);
            }
        }
        None
    }

    /// Returns the last event of an ended stream if only the blank line after the event is missing. Returns `None` if
    /// there is no such event.
    ///
    /// The HTML standard requires clients to discard this event. However, some servers omit the last blank line.
    pub fn rest(&mut self) -> Option<SseEvent> {
        if self.state == LineState::Data || !self.line.is_empty() {
            let _ = self.line_end();
        }
        self.take_event()
    }

    /// Returns the id of the last event that had an id, for the `Last-Event-ID` header. Returns `None` if no event had
    /// one.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(self.last_id.as_str()).filter(|id| !id.is_empty())
    }

    /// Returns how long the client must wait before it reopens the stream, as the last `retry` field says. Returns
    /// `None` if the server sent no such field.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn read_part(&mut self, part: &[u8]) {
        match self.state {
            LineState::Data => self.push_data(part),
            LineState::Skip => {}
            LineState::Line => {
                let room = (MAX_FIELD + 1).saturating_sub(self.line.len()).min(part.len());
                let (taken, rest) = part.split_at(room);
                self.line.extend_from_slice(taken);
                self.classify();
                match self.state {
                    LineState::Data => self.push_data(rest),
                    LineState::Line if self.line.len() > MAX_FIELD => self.state = LineState::Skip,
                    _ => {}
                }
            }
        }
    }

    /// Detects comments and `data` fields before the whole line has arrived, so that long data is copied only once.
    fn classify(&mut self) {
        if !self.has_started && self.line.starts_with(BOM) {
            self.line.drain(..BOM.len());
            self.has_started = true;
        }
        if self.line.first() == Some(&b':') {
            self.state = LineState::Skip;
        } else if self.line.len() > DATA.len() && self.line.starts_with(DATA) {
            let line = core::mem::take(&mut self.line);
            self.begin_data();
            let value = &line[DATA.len()..];
            self.push_data(value.strip_prefix(b" ").unwrap_or(value));
            self.state = LineState::Data;
        }
    }

    /// Starts a `data` field. The HTML standard joins several `data` fields of one event with newlines.
    fn begin_data(&mut self) {
        match self.data {
            None => self.data = Some(Vec::new()),
            Some(_) => self.push_data(b"\n"),
        }
    }

    fn push_data(&mut self, bytes: &[u8]) {
        let data = self.data.get_or_insert_default();
        if !self.is_cut && data.len() + bytes.len() > self.limit {
            self.is_cut = true;
            data.truncate(CUT_LENGTH);
            data.shrink_to(CUT_LENGTH);
        }
        let room = if self.is_cut { CUT_LENGTH.saturating_sub(data.len()) } else { bytes.len() };
        data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// Handles the end of a line. Returns the event that the line completes, or `None`.
    fn line_end(&mut self) -> Option<SseEvent> {
        let state = core::mem::replace(&mut self.state, LineState::Line);
        self.has_started = true;
        if state != LineState::Line {
            self.line.clear();
            return None;
        }
        if self.line.is_empty() {
            // The blank line after an event.
            self.last_id = self.id.take().unwrap_or(core::mem::take(&mut self.last_id));
            return self.take_event();
        }
        let line = core::mem::take(&mut self.line);
        let (field, value) = match memchr::memchr(b':', &line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        self.read_field(field, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    fn read_field(&mut self, field: &[u8], value: &[u8]) {
        match field {
            b"data" => {
                self.begin_data();
                self.push_data(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.id = Some(String::from_utf8_lossy(value).into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let millis = core::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry = Some(millis.map_or(Duration::MAX, Duration::from_millis));
            }
            _ => {}
        }
    }

    /// Returns the current event if it has a `data` field, and starts the next event.
    fn take_event(&mut self) -> Option<SseEvent> {
        let (name, is_truncated) = (core::mem::take(&mut self.name), core::mem::take(&mut self.is_cut));
        Some(SseEvent { name, data: self.data.take()?, is_truncated })
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn events(stream: &[u8], piece: usize) -> (Vec<(String, String)>, SseDecoder) {
        let mut decoder = SseDecoder::new(50);
        let mut seen = Vec::new();
        for mut piece in stream.chunks(piece) {
            while let Some(event) = decoder.next(&mut piece) {
                let mark = if event.is_truncated { "cut:" } else { "" };
                seen.push((event.name, alloc::format!("{mark}{}", String::from_utf8_lossy(&event.data))));
            }
        }
        (seen, decoder)
    }

    fn check(stream: &[u8], expected: &[(&str, &str)], id: Option<&str>, retry: Option<u64>) {
        for piece in 1..=stream.len().max(1) {
            let (seen, decoder) = events(stream, piece);
            let seen: Vec<(&str, &str)> = seen.iter().map(|(name, data)| (name.as_str(), data.as_str())).collect();
            let what = String::from_utf8_lossy(stream);
            assert_eq!(seen, expected, "{what} in pieces of {piece}");
            assert_eq!(decoder.last_event_id(), id, "{what} in pieces of {piece}");
            assert_eq!(decoder.retry(), retry.map(Duration::from_millis), "{what}");
        }
    }

    #[test]
    fn lines_end_in_lf_cr_or_crlf() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = ["event: x", "data: a", "data:b", "", "data", "", ": comment", "data:  c", "", ""].join(end);
            check(stream.as_bytes(), &[("x", "a\nb"), ("", ""), ("", " c")], None, None);
        }
        check(b"data: a\r\n\r\ndata: b\n\r\n", &[("", "a"), ("", "b")], None, None);
        check(b"data: a\r\rdata: b\n\n", &[("", "a"), ("", "b")], None, None);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_only_at_the_start() {
        check(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a")], None, None);
        check(b"\xef\xbb\xbf\n\ndata: a\n\n", &[("", "a")], None, None);
        check(b"\xef\xbbdata: a\n\ndata: b\n\n", &[("", "b")], None, None);
    }

    #[test]
    fn ids_count_when_their_event_ends() {
        check(b"id: 1\ndata: \n\nid: 2\ndata: x", &[("", "")], Some("1"), None);
        check(b"id: 1\n\nid: a\0b\n\n", &[], Some("1"), None);
        check(b"id: 1\n\nid\n\n", &[], None, None);
        check("id: \u{e4} b\n\n".as_bytes(), &[], Some("\u{e4} b"), None);
    }

    #[test]
    fn retry_is_digits_only() {
        check(b"retry: 500\n\n", &[], None, Some(500));
        check(b"retry: 500\nretry: -1\nretry: 1s\nretry:\nretry: 1.5\nretry: +3\n\n", &[], None, Some(500));
        let (_, decoder) = events(b"retry: 99999999999999999999999\n", 1);
        assert_eq!(decoder.retry(), Some(Duration::MAX));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        check(b"dat: a\nDATA: b\ndata : c\ndatax\n x\n\ndata:y\n\n", &[("", "y")], None, None);
    }

    #[test]
    fn too_much_data_is_cut() {
        let mut stream = alloc::format!("data: {}\n", "x".repeat(40)).into_bytes();
        stream.extend_from_slice(&stream.clone());
        stream.extend_from_slice(b"\ndata: ok\n\n");
        for piece in [1, 3, 7, 1000] {
            let (seen, _) = events(&stream, piece);
            assert_eq!(seen.len(), 2);
            assert!(seen[0].1.starts_with("cut:xxxx"), "{seen:?}");
            assert!(seen[0].1.len() <= "cut:".len() + CUT_LENGTH);
            assert_eq!(seen[1].1, "ok");
        }
    }

    #[test]
    fn long_fields_are_ignored() {
        let stream = alloc::format!("id: {}\nevent: a\ndata: b\n\n", "x".repeat(MAX_FIELD));
        let (seen, decoder) = events(stream.as_bytes(), 1000);
        assert_eq!(seen, [("a".to_string(), "b".to_string())]);
        assert_eq!(decoder.last_event_id(), None);
    }

    #[test]
    fn an_incomplete_event_is_the_rest_of_the_stream() {
        for (stream, rest) in [
            ("data: a", Some("a")),
            ("data: a\n", Some("a")),
            ("data: a\ndata", Some("a\n")),
            ("data: a\n\n", None),
            ("event: x\n", None),
            ("", None),
        ] {
            let (_, mut decoder) = events(stream.as_bytes(), 2);
            let found = decoder.rest().map(|event| String::from_utf8_lossy(&event.data).into_owned());
            assert_eq!(found.as_deref(), rest, "{stream:?}");
        }
    }
}
