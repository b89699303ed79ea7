//! How bytes are cut into pieces makes no difference: lines of messages have the same effect, and a stream of server-sent events
//! has the events that the standard says.

use core::time::Duration;

use mcpwire_core::internal::{SseDecoder, SseEvent};
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, Config, Event, Json, ListParams, ListTools, Negotiate, Phase, RequestOptions, Stats,
    Timestamp,
};

use super::describe::{self, Names};
use super::trace::{Bytes, Shown, Trace};

/// Everything that can be seen of an engine.
#[derive(Debug, PartialEq)]
struct Seen {
    events: Vec<Event>,
    sent: Vec<u8>,
    phase: Phase,
    in_flight: usize,
    stats: Stats,
}

impl Seen {
    fn trace(&self, trace: &Trace) {
        let mut names = Names::default();
        for event in &self.events {
            names.event(event, trace);
        }
        trace.line(format_args!("sent {}", Shown(&self.sent)));
        let (phase, stats) = (describe::phase(self.phase), describe::stats(self.stats));
        trace.line(format_args!("= {phase}, {} in flight, {stats}", self.in_flight));
    }
}

/// Plays the stream in one piece, byte by byte, and cut at will; in the caller's memory, and in the engine's own with what
/// was read given back to it.
pub fn chunks(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let (setup, seed) = (input.byte(), input.byte());
    let stream = input.rest();
    let whole = play(setup, stream, false, |left| left);
    whole.trace(trace);
    let mut state = u32::from(seed) | 0x100;
    let cuts = [1, 2, 7, 100];
    let mut cut = |left: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let longest = cuts[state as usize % cuts.len()];
        (1 + (state >> 8) as usize % longest).min(left)
    };
    assert_eq!(play(setup, stream, false, |_| 1), whole, "byte by byte");
    assert_eq!(play(setup, stream, false, &mut cut), whole, "in pieces");
    assert_eq!(play(setup, stream, true, &mut cut), whole, "in pieces, in the engine's own memory");
}

fn play(setup: u8, mut stream: &[u8], own_memory: bool, mut cut: impl FnMut(usize) -> usize) -> Seen {
    let mut engine = open(setup);
    let now = Timestamp::ORIGIN;
    let mut events = Vec::new();
    while !stream.is_empty() {
        let piece = &stream[..cut(stream.len())];
        let taken = if own_memory {
            let space = engine.space().expect("every event was taken");
            let n = space.len().min(piece.len());
            space[..n].copy_from_slice(&piece[..n]);
            engine.filled(n, now);
            n
        } else {
            engine.receive(piece, now)
        };
        assert!(taken > 0, "no room although every event was taken");
        stream = &stream[taken..];
        while let Some(event) = engine.poll_event() {
            events.push(event);
        }
    }
    if setup & 0x80 != 0 {
        engine.receive_eof(now);
        while let Some(event) = engine.poll_event() {
            events.push(event);
        }
    }
    Seen {
        events,
        sent: engine.transmit().to_vec(),
        phase: engine.session().phase(),
        in_flight: engine.session().in_flight(),
        stats: engine.session().stats(),
    }
}

/// An engine that is open in either era with three requests in flight (ids 2, 3, 4), or one that still asks which era it is.
fn open(setup: u8) -> Engine {
    let now = Timestamp::ORIGIN;
    let mut config = Config::new("fuzz", "1");
    config.max_message = [80, 200, 700, 4096][usize::from(setup >> 2 & 3)];
    let (negotiate, answer) = match setup & 3 {
        0 => (Negotiate::Legacy, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#),
        1 => (Negotiate::Modern, r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#),
        _ => (Negotiate::Auto, ""),
    };
    config.negotiate = negotiate;
    let mut engine = Engine::new(config);
    engine.calls().initialize(now).expect("it is new");
    if answer.is_empty() {
        return engine;
    }
    engine.receive(answer.as_bytes(), now);
    engine.receive(b"\n", now);
    assert_eq!(engine.poll_event(), Some(Event::Connected));
    let call = CallToolParams { name: "echo", arguments: &Json::parse("{}").expect("an object") };
    let asked = engine.calls().request::<CallTool>(&call, &RequestOptions::new().progress(), now).is_ok()
        && engine.calls().request::<ListTools>(&ListParams::default(), &RequestOptions::new(), now).is_ok()
        && engine.calls().request_raw("x/y", None, &RequestOptions::new(), now).is_ok();
    assert!(asked, "an open engine sends requests");
    engine.transmitted(usize::MAX);
    engine
}

/// What was read of a stream of events.
#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<SseEvent>,
    last_id: Option<String>,
    retry: Option<Duration>,
    rest: Option<SseEvent>,
}

/// Plays the stream in one piece, byte by byte, and cut at will; and compares it with a plain reading of the standard.
pub fn events(data: &[u8], trace: &Trace) {
    let mut input = Bytes::new(data);
    let (limit, seed) = (input.pick(&[0, 5, 40, usize::MAX]), input.byte());
    let stream = input.rest();
    let whole = read(limit, stream, |left| left);
    for event in whole.events.iter().chain(&whole.rest) {
        trace.line(format_args!("event {}, cut {}: {}", event.name, event.is_truncated, Shown(&event.data)));
    }
    trace.line(format_args!("= last id {:?}, retry {:?}", whole.last_id, whole.retry));
    let mut state = u32::from(seed) | 0x100;
    let cut = |left: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (1 + (state >> 16) as usize % 9).min(left)
    };
    assert_eq!(read(limit, stream, |_| 1), whole, "byte by byte");
    assert_eq!(read(limit, stream, cut), whole, "in pieces");
    for event in &whole.events {
        assert!(event.data.len() <= limit.max(1024), "more than the limit");
        assert!(!event.is_truncated || limit < usize::MAX);
    }
    if limit == usize::MAX && stream.len() < 4096 {
        let (events, last_id, retry) = plainly(stream);
        assert_eq!((&whole.events, &whole.last_id, &whole.retry), (&events, &last_id, &retry));
    }
}

fn read(limit: usize, mut stream: &[u8], mut cut: impl FnMut(usize) -> usize) -> Read {
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
    Read { events, last_id, retry, rest: decoder.rest() }
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
