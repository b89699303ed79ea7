//! Server-sent events, decoded as their bytes come ([HTML, "Interpreting an event
//! stream"](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)).

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use memchr::memchr2;

use crate::text::BOM;

/// The longest field other than `data` that is taken in. Ids of known servers are below 100 bytes.
const MAX_FIELD: usize = 4 * 1024;

/// How much of an event that is too long is kept. Enough to find the id of the message that it carries.
const HEAD: usize = 1024;

/// What a small event needs; a buffer that grew beyond it goes out with its event.
const SMALL: usize = 8 * 1024;

const DATA: &[u8] = b"data:";

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// Its `event` field: empty where there was none, which stands for `message`.
    pub name: String,
    /// Its `data` lines, with a newline between each two. Bytes: it is for the reader to say whether they are UTF-8.
    pub data: Vec<u8>,
    /// Its data exceeded the decoder's limit, and is but the beginning of it.
    pub is_cut: bool,
}

impl SseEvent {
    /// Whether it carries nothing: servers send such events for their id alone.
    pub fn is_blank(&self) -> bool {
        self.data.trim_ascii().is_empty()
    }
}

/// Decodes one stream of events. However its bytes are cut into pieces, the events are the same.
///
/// ```
/// use mcpwire_core::http::SseDecoder;
///
/// let mut decoder = SseDecoder::new(1 << 20);
/// let mut bytes = &b"id: 7\nretry: 500\ndata: {}\n\n"[..];
/// let event = decoder.next(&mut bytes).expect("it is whole");
/// assert_eq!(event.data, b"{}");
/// assert_eq!(decoder.last_event_id(), Some("7"));
/// assert_eq!(decoder.next(&mut bytes), None);
/// ```
#[derive(Clone, Debug)]
pub struct SseDecoder {
    limit: usize,
    /// The beginning of a line, until it is known to be one of data.
    line: Vec<u8>,
    state: State,
    /// The last byte was a CR: a LF right after it belongs to the same line end.
    after_cr: bool,
    /// Nothing but the first line has been seen: a byte order mark may stand before it.
    is_first_line: bool,
    data: Vec<u8>,
    fill: Fill,
    name: String,
    /// The `id` of the event that is being read; it counts when that event ends.
    id: Option<String>,
    last_id: String,
    retry: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A line whose field is not known yet.
    Line,
    /// In the value of a `data` field.
    Data,
    /// In a line that says nothing.
    Skip,
}

/// What there is of an event's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    None,
    Some,
    /// It is too much; its beginning is kept.
    Cut,
}

impl SseDecoder {
    /// A decoder at the beginning of a stream, for events whose data is at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        SseDecoder {
            limit,
            line: Vec::new(),
            state: State::Line,
            after_cr: false,
            is_first_line: true,
            data: Vec::new(),
            fill: Fill::None,
            name: String::new(),
            id: None,
            last_id: String::new(),
            retry: None,
        }
    }

    /// Takes bytes from the front of `bytes` until an event is complete. `None` once all are taken.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<SseEvent> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            *bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while !bytes.is_empty() {
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.part(bytes);
                *bytes = &[];
                return None;
            };
            let (part, rest) = bytes.split_at(end);
            self.part(part);
            *bytes = &rest[1..];
            if rest[0] == b'\r' {
                match bytes.strip_prefix(b"\n") {
                    Some(after) => *bytes = after,
                    None => self.after_cr = bytes.is_empty(),
                }
            }
            if let Some(event) = self.line_end() {
                return Some(event);
            }
        }
        None
    }

    /// What the stream ended in the middle of. By the rules of event streams it counts for nothing; a whole message that
    /// lacks only its last newline is worth a look.
    pub fn rest(&mut self) -> Option<SseEvent> {
        if self.state == State::Data || !self.line.is_empty() {
            let _ = self.line_end();
        }
        self.event()
    }

    /// The id of the last event that had one, for the `Last-Event-ID` header.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(self.last_id.as_str()).filter(|id| !id.is_empty())
    }

    /// How long the server asked to wait before the stream is taken up again.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Takes a part of a line, without its end.
    fn part(&mut self, part: &[u8]) {
        match self.state {
            State::Data => self.push_data(part),
            State::Skip => {}
            State::Line => {
                let room = (MAX_FIELD + 1).saturating_sub(self.line.len()).min(part.len());
                let (taken, rest) = part.split_at(room);
                self.line.extend_from_slice(taken);
                self.classify();
                match self.state {
                    State::Data => self.push_data(rest),
                    State::Line if self.line.len() > MAX_FIELD => self.state = State::Skip,
                    _ => {}
                }
            }
        }
    }

    /// Looks whether the line is one of data as soon as its beginning tells, so that long data is copied once.
    fn classify(&mut self) {
        if self.is_first_line && self.line.starts_with(BOM) {
            self.line.drain(..BOM.len());
            self.is_first_line = false;
        }
        if self.line.first() == Some(&b':') {
            self.state = State::Skip;
        } else if self.line.len() > DATA.len() && self.line.starts_with(DATA) {
            let line = core::mem::take(&mut self.line);
            self.begin_data();
            let value = &line[DATA.len()..];
            self.push_data(value.strip_prefix(b" ").unwrap_or(value));
            self.state = State::Data;
            self.line = line;
            self.line.clear();
        }
    }

    fn begin_data(&mut self) {
        match self.fill {
            Fill::None => self.fill = Fill::Some,
            _ => self.push_data(b"\n"),
        }
    }

    fn push_data(&mut self, bytes: &[u8]) {
        if self.fill != Fill::Cut && self.data.len() + bytes.len() > self.limit {
            self.fill = Fill::Cut;
            self.data.truncate(HEAD);
            self.data.shrink_to(HEAD);
        }
        let room = if self.fill == Fill::Cut { HEAD.saturating_sub(self.data.len()) } else { bytes.len() };
        self.data.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    fn line_end(&mut self) -> Option<SseEvent> {
        let state = core::mem::replace(&mut self.state, State::Line);
        self.is_first_line = false;
        if state != State::Line {
            self.line.clear();
            return None;
        }
        if self.line.is_empty() {
            return self.dispatch();
        }
        let line = core::mem::take(&mut self.line);
        let (field, value) = match memchr::memchr(b':', &line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        self.field(field, value.strip_prefix(b" ").unwrap_or(value));
        self.line = line;
        self.line.clear();
        None
    }

    fn field(&mut self, field: &[u8], value: &[u8]) {
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

    fn dispatch(&mut self) -> Option<SseEvent> {
        if let Some(id) = self.id.take() {
            self.last_id = id;
        }
        self.event()
    }

    fn event(&mut self) -> Option<SseEvent> {
        let name = core::mem::take(&mut self.name);
        let fill = core::mem::replace(&mut self.fill, Fill::None);
        if fill == Fill::None {
            return None;
        }
        let data = if self.data.len() > SMALL {
            core::mem::take(&mut self.data)
        } else {
            let data = self.data.clone();
            self.data.clear();
            data
        };
        Some(SseEvent { name, data, is_cut: fill == Fill::Cut })
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
                let mark = if event.is_cut { "cut:" } else { "" };
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
    fn line_ends_of_all_kinds() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = ["event: x", "data: a", "data:b", "", "data", "", ": comment", "data:  c", "", ""].join(end);
            check(stream.as_bytes(), &[("x", "a\nb"), ("", ""), ("", " c")], None, None);
        }
        check(b"data: a\r\n\r\ndata: b\n\r\n", &[("", "a"), ("", "b")], None, None);
        check(b"data: a\r\rdata: b\n\n", &[("", "a"), ("", "b")], None, None);
    }

    #[test]
    fn a_byte_order_mark_only_at_the_start() {
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
    fn what_is_no_field_says_nothing() {
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
            assert!(seen[0].1.len() <= "cut:".len() + HEAD);
            assert_eq!(seen[1].1, "ok");
        }
    }

    #[test]
    fn long_fields_are_left_aside() {
        let stream = alloc::format!("id: {}\nevent: a\ndata: b\n\n", "x".repeat(MAX_FIELD));
        let (seen, decoder) = events(stream.as_bytes(), 1000);
        assert_eq!(seen, [("a".to_string(), "b".to_string())]);
        assert_eq!(decoder.last_event_id(), None);
    }

    #[test]
    fn the_rest_of_a_stream() {
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
