//! What a caller knows of an engine without looking into it, and what must be so.

mod asks;
mod events;
mod requests;
mod ticket;

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{AskKey, Config, Json, Negotiate, Phase, RequestKey, Timestamp};

use super::wire::{self, Wire};
pub(super) use ticket::AnyTicket;

const MAX_MESSAGE: usize = 1000;
const MAX_TRANSMIT: usize = 1500;
const MAX_IN_FLIGHT: usize = 12;
const MAX_ASKS: usize = 5;
const MAX_ROUNDS: u32 = 3;
const MAX_KEPT: usize = 600;

/// A request that waits, as its caller knows it.
struct Waiting {
    ticket: AnyTicket,
    id: u64,
    progress: bool,
    timeout: Duration,
    idle: Timestamp,
    total: Timestamp,
    cancelled: bool,
    /// What names it in its parameters, whatever id it has.
    mark: Option<u64>,
    rounds: u32,
    /// An input of its was refused.
    refused: bool,
}

pub(super) struct Model {
    engine: Engine,
    now: Timestamp,
    waiting: BTreeMap<RequestKey, Waiting>,
    /// Ids of requests that have ended.
    ended: Vec<u64>,
    /// What the server asks for, and the request that it is for.
    asks: BTreeMap<AskKey, Option<RequestKey>>,
    dead_ask: Option<AskKey>,
    marks: u64,
    wire: Wire,
    connected: bool,
    /// The last event has been seen.
    over: bool,
    /// Bytes that may still become events.
    received: usize,
}

impl Model {
    pub(super) fn open(setup: u8) -> Model {
        let mut config = Config::new("fuzz", "1");
        config.max_message = MAX_MESSAGE;
        config.max_transmit = MAX_TRANSMIT;
        config.max_in_flight = MAX_IN_FLIGHT;
        config.max_asks = MAX_ASKS;
        config.max_rounds = MAX_ROUNDS;
        config.max_kept = MAX_KEPT;
        config.answer("roots/list");
        config.request_timeout = Duration::from_millis(500);
        config.total_timeout = Duration::from_secs(5);
        let answer = match setup % 4 {
            0 => r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#,
            1 => r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}}"#,
            _ => "",
        };
        config.negotiate = match setup % 8 {
            0 | 4 => Negotiate::Legacy,
            1 | 5 => Negotiate::Modern,
            _ => Negotiate::Auto,
        };
        let mut model = Model {
            engine: Engine::new(config),
            now: Timestamp::ORIGIN,
            waiting: BTreeMap::new(),
            ended: Vec::new(),
            asks: BTreeMap::new(),
            dead_ask: None,
            marks: 0,
            wire: Wire::default(),
            connected: false,
            over: false,
            received: 0,
        };
        model.engine.calls().initialize(model.now).expect("it is new");
        assert!(model.engine.calls().initialize(model.now).is_err(), "opened twice");
        if !answer.is_empty() {
            model.receive(&[answer.as_bytes(), b"\n"].concat());
        }
        model.check();
        model
    }

    /// Ids of requests that wait.
    pub(super) fn ids(&self) -> Vec<u64> {
        self.waiting.values().map(|waiting| waiting.id).collect()
    }

    /// Ids of requests that have ended.
    pub(super) fn ended_ids(&self) -> &[u64] {
        &self.ended
    }

    /// A number that no request was marked with.
    pub(super) fn next_mark(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }

    fn deadline(&self, waiting: &Waiting) -> Timestamp {
        if self.holds_up_the_server() { waiting.total } else { waiting.idle.min(waiting.total) }
    }

    /// Looks for requests that were sent again.
    fn look_for_rounds(&mut self) {
        for (id, mark) in self.wire.whole_lines(self.engine.transmit()).filter_map(wire::marked) {
            let Some(waiting) = self.waiting.values_mut().find(|waiting| waiting.mark == Some(mark)) else { continue };
            if id > waiting.id {
                self.ended.push(waiting.id);
                waiting.id = id;
                waiting.rounds += 1;
                assert!(waiting.rounds <= MAX_ROUNDS, "one round too many");
                waiting.idle = self.now + waiting.timeout;
            }
        }
    }

    pub(super) fn notify(&mut self, which: u8) {
        let text = if which & 1 == 0 { "{\"a\":\n1}" } else { "[1]" };
        let params = Json::parse(text).expect("it is JSON");
        let before = self.engine.transmit().len();
        if self.engine.calls().notify_raw("notifications/x", (which & 2 == 0).then_some(&params), self.now).is_err() {
            assert_eq!(self.engine.transmit().len(), before, "refused, and bytes left behind");
        }
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8]) {
        self.received += bytes.len();
        while !bytes.is_empty() {
            let taken = self.engine.receive(bytes, self.now);
            assert!(taken > 0, "no room although every event was taken");
            bytes = &bytes[taken..];
            self.drain();
            self.look_for_rounds();
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        self.engine.handle_timeout(self.now);
        self.drain();
        for waiting in self.waiting.values() {
            assert!(self.deadline(waiting) > self.now, "a deadline passed, and the request still waits");
        }
        if let Some(next) = self.engine.poll_timeout() {
            assert!(next > self.now, "the next deadline lies in the past");
        }
    }

    pub(super) fn pass_to_deadline(&mut self) {
        if let Some(next) = self.engine.poll_timeout() {
            let far = Duration::from_secs(1 << 32);
            self.pass(next.duration_since(self.now).min(far));
        }
    }

    pub(super) fn transmit(&mut self, n: usize) {
        let pending = self.engine.transmit();
        let n = n.min(pending.len());
        self.wire.take(&pending[..n]);
        self.engine.transmitted(n);
    }

    pub(super) fn end(&mut self) {
        self.engine.receive_eof(self.now);
        self.drain();
        assert!(
            self.over && self.engine.session().phase() == Phase::Closed,
            "the stream has ended, and the session has not"
        );
    }

    pub(super) fn close(&mut self) {
        self.engine.close();
        assert!(self.engine.transmit().is_empty(), "closed, and something is to be sent");
        self.wire.cut_off();
        self.drain();
        assert!(self.over && self.engine.session().phase() == Phase::Closed, "closed, and the session has not ended");
    }

    /// What must be so after each step.
    pub(super) fn check(&mut self) {
        self.drain();
        self.look_for_rounds();
        assert!(self.asks.len() <= MAX_ASKS, "one question too many");
        assert_eq!(self.engine.session().in_flight(), self.waiting.len());
        assert!(self.waiting.keys().all(|key| self.engine.session().is_waiting(*key)));
        let first = self.waiting.values().map(|waiting| self.deadline(waiting)).min();
        match (self.engine.session().phase(), self.engine.poll_timeout(), first) {
            (Phase::Connecting, next, None) => assert!(next.is_some(), "an opening without an end"),
            (_, Some(next), Some(first)) => assert!(next <= first, "the engine would sleep through a deadline"),
            (_, None, None) => {}
            (phase, next, first) => panic!("{phase:?}: a timer at {next:?} for a deadline at {first:?}"),
        }
        if self.engine.is_idle() {
            assert!(self.engine.space().len() <= 64 << 10, "an idle engine keeps much");
        }
        assert!(self.engine.space().len() <= 256 << 10, "the buffer has no bound");
    }

    /// Sends all that is left: it ends with a whole line.
    pub(super) fn finish(&mut self) {
        self.transmit(usize::MAX);
        self.wire.finish();
    }
}
