//! Event streams: however they are cut, the events are the same, and they are those that the standard says.

use core::time::Duration;

use mcpwire_core::internal::{SseDecoder, SseEvent};

use super::bytes::Bytes;
use super::trace::{Shown, Trace};

#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<SseEvent>,
    last_id: Option<String>,
    retry: Option<Duration>,
    rest: Option<SseEvent>,
}

/// Plays the stream in one piece, byte by byte, and cut at will; and compares it with a plain reading of the standard.
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says which events there were.
pub fn trace(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let (limit, seed) = (input.pick(&[0, 5, 40, usize::MAX]), input.byte());
    let stream = input.rest();
    let whole = play(limit, stream, |left| left);
    for event in whole.events.iter().chain(&whole.rest) {
        trace.line(format_args!("event {}, cut {}: {}", event.name, event.is_truncated, Shown(&event.data)));
    }
    trace.line(format_args!("= last id {:?}, retry {:?}", whole.last_id, whole.retry));
    let mut state = u32::from(seed) | 0x100;
    let cut = |left: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (1 + (state >> 16) as usize % 9).min(left)
    };
    assert_eq!(play(limit, stream, |_| 1), whole, "byte by byte");
    assert_eq!(play(limit, stream, cut), whole, "in pieces");
    for event in &whole.events {
        assert!(event.data.len() <= limit.max(1024), "more than the limit");
        assert!(!event.is_truncated || limit < usize::MAX);
    }
    if limit == usize::MAX && stream.len() < 4096 {
        let (events, last_id, retry) = plainly(stream);
        assert_eq!((&whole.events, &whole.last_id, &whole.retry), (&events, &last_id, &retry));
    }
}

fn play(limit: usize, mut stream: &[u8], mut cut: impl FnMut(usize) -> usize) -> Seen {
    let mut decoder = SseDecoder::new(limit);
    let mut events = Vec::new();
    while !stream.is_empty() {
        let (mut piece, rest) = stream.split_at(cut(stream.len()));
        while let Some(event) = decoder.next(&mut piece) {
            events.push(event);
        }
        assert!(piece.is_empty(), "bytes that were not taken");
        stream = rest;
    }
    let (last_id, retry) = (decoder.last_event_id().map(Into::into), decoder.retry());
    Seen { events, last_id, retry, rest: decoder.rest() }
}

/// The standard's "Interpreting an event stream", line by line, with the whole stream at hand.
fn plainly(stream: &[u8]) -> (Vec<SseEvent>, Option<String>, Option<Duration>) {
    let mut rest = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut events, mut last_id, mut retry) = (Vec::new(), String::new(), None);
    let (mut name, mut data, mut id) = (String::new(), None::<Vec<u8>>, None);
    while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        let line = &rest[..end];
        let width = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
        if line.is_empty() {
            last_id = id.take().unwrap_or(last_id);
            let name = core::mem::take(&mut name);
            events.extend(data.take().map(|data| SseEvent { name, data, is_truncated: false }));
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            b"event" => name = text(),
            b"data" => {
                data = Some(match data {
                    Some(before) => [&before, &b"\n"[..], value].concat(),
                    None => value.to_vec(),
                });
            }
            b"id" if !value.contains(&0) => id = Some(text()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                retry = Some(text().parse().map_or(Duration::MAX, Duration::from_millis));
            }
            _ => {}
        }
    }
    (events, Some(last_id).filter(|id| !id.is_empty()), retry)
}
