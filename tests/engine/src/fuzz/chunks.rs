//! How the bytes are cut into pieces makes no difference to what they mean.

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, Config, Event, Json, ListParams, ListTools, Negotiate, Phase, RequestOptions, Stats,
    Timestamp,
};

use super::bytes::Bytes;
use super::describe::{self, Names};
use super::trace::{Shown, Trace};

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
pub fn run(data: &[u8]) {
    trace(data, &Trace::default());
}

/// The same, and says what was seen.
pub fn trace(data: &[u8], trace: &Trace) {
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
