//! What a caller knows of an engine without looking into it, and what must be so.
//!
//! | file | what it holds the engine to |
//! |---|---|
//! | `mod` | time, bytes, and what must be so after each step; how an input begins |
//! | `requests` | when requests are sent or refused, their deadlines, how they may end, and what a cancel tells the server |
//! | `events` | what may happen, and when; the server's requests are answered, refused or given up; a cached answer still holds |
//! | `tasks` | calls that become tasks, and tasks that are followed by their handles |
//! | `subscriptions` | subscriptions are acknowledged or end, in time and in order |

mod events;
mod requests;
mod subscriptions;
mod tasks;

use core::time::Duration;
use std::collections::BTreeMap;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{CacheLimits, Config, Json, Negotiate, Phase, ServerRequestId, Timestamp};

use self::events::Cached;
use self::requests::Waiting;
use self::subscriptions::Subscribed;
use super::wire::{Asked, Wire};
use crate::fuzz::describe::{self, Names};
use crate::fuzz::trace::{Shown, Trace};

pub(super) use requests::AnyTicket;

const MAX_MESSAGE: usize = 1000;
const MAX_TRANSMIT: usize = 1500;
const MAX_IN_FLIGHT: usize = 12;
const MAX_ASKS: usize = 5;
const MAX_ROUNDS: u32 = 3;
const MAX_KEPT: usize = 600;
const MAX_TASKS: usize = 4;
/// Maximum number of subscriptions; [`Setup`] says which.
const FEW_SUBSCRIPTIONS: usize = 3;
const MANY_SUBSCRIPTIONS: usize = 8;

/// Nobody waits for so long: a deadline beyond it stands for none.
const FAR: Duration = Duration::from_secs(1 << 30);

/// How often time may have to pass before nothing is due any more.
const MAX_WAKES: usize = 5_000;

pub(super) struct Model {
    engine: Engine,
    now: Timestamp,
    /// Requests of the caller's that wait, by the numbers that [`Names`] has given them.
    waiting: BTreeMap<usize, Waiting>,
    /// Ids of requests that have ended.
    ended: Vec<u64>,
    /// What the server asks for, and the request that it is for.
    asks: Vec<(ServerRequestId, Option<usize>)>,
    dead_ask: Option<ServerRequestId>,
    subscriptions: Vec<Subscribed>,
    cached: Cached,
    /// Names of the latest tasks.
    tasks: Vec<String>,
    /// Until when the engine may wait for answers to `tasks/cancel`.
    cancels_until: Timestamp,
    marks: u64,
    server_requests: u64,
    wire: Wire,
    connected: bool,
    /// The last event has been seen.
    over: bool,
    /// Bytes that may still become events.
    received: usize,
    /// Number of events, and of messages that the engine has written.
    happened: usize,
    names: Names,
    trace: Trace,
    /// What was last traced of how the engine stands.
    stood: String,
}

impl Model {
    pub(super) fn open(setup: u8, trace: &Trace) -> Model {
        let setup = Setup::of(setup);
        let mut model = Model {
            engine: Engine::new(setup.config()),
            now: Timestamp::ORIGIN,
            waiting: BTreeMap::new(),
            ended: Vec::new(),
            asks: Vec::new(),
            dead_ask: None,
            subscriptions: Vec::new(),
            cached: Cached::default(),
            tasks: Vec::new(),
            cancels_until: Timestamp::ORIGIN,
            marks: 0,
            server_requests: 0,
            wire: Wire::new(trace.clone()),
            connected: false,
            over: false,
            received: 0,
            happened: 0,
            names: Names::default(),
            trace: trace.clone(),
            stood: String::new(),
        };
        model.engine.calls().initialize(model.now).expect("it is new");
        assert!(model.engine.calls().initialize(model.now).is_err(), "opened twice");
        model.look();
        if let Some(answer) = setup.answer() {
            model.receive(&[answer.as_bytes(), b"\n"].concat());
        }
        model.check();
        model
    }

    /// Ids of requests that wait.
    pub(super) fn ids(&self) -> Vec<u64> {
        self.waiting.values().filter_map(|waiting| waiting.id).collect()
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

    /// A number that no request of the server's has.
    pub(super) fn next_server_request(&mut self) -> u64 {
        self.server_requests += 1;
        self.server_requests
    }

    /// How many requests wait.
    pub(super) fn waits(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// Looks at what the engine has written: requests may have been sent again.
    fn look(&mut self) -> Vec<Asked> {
        let written = self.wire.look(self.engine.transmit());
        self.happened += written.len();
        for asked in &written {
            self.note_round(asked);
            self.note_task_cancel(asked);
        }
        written
    }

    fn note_round(&mut self, asked: &Asked) {
        let (Some(id), Some(mark)) = (asked.id, asked.mark()) else { return };
        let Some(waiting) = self.waiting.values_mut().find(|waiting| waiting.mark == Some(mark)) else { return };
        self.ended.extend(waiting.id.replace(id));
        waiting.rounds += 1;
        assert!(waiting.rounds <= MAX_ROUNDS, "one round too many");
        waiting.idle = self.now + waiting.timeout;
        // What follows from a user's answers is not kept.
        waiting.is_current = false;
    }

    pub(super) fn notify(&mut self, which: u8) {
        let text = if which & 1 == 0 { "{\"a\":\n1}" } else { "[1]" };
        let params = Json::parse(text).expect("it is JSON");
        self.trace.line(format_args!("> notify"));
        self.look();
        if let Err(error) =
            self.engine.calls().notify_raw("notifications/x", (which & 2 == 0).then_some(&params), self.now)
        {
            describe::not_sent(&error, &self.trace);
            assert!(self.look().is_empty(), "refused, and bytes left behind");
        }
        self.look();
    }

    pub(super) fn receive(&mut self, mut bytes: &[u8]) {
        self.trace.line(format_args!("> receive {}", Shown(bytes)));
        self.received += bytes.len();
        self.expect_tasks(bytes);
        while !bytes.is_empty() {
            let taken = self.engine.receive(bytes, self.now);
            assert!(taken > 0, "no room although every event was taken");
            bytes = &bytes[taken..];
            self.drain();
        }
    }

    /// Time passes, and the engine is not told before something else happens.
    pub(super) fn pass_untold(&mut self, time: Duration) {
        self.now = self.now + time;
        self.trace.line(format_args!("> it is {:?}, and nobody says so", self.now));
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = self.now + time;
        self.trace.line(format_args!("> it is {:?}", self.now));
        self.tell_time();
    }

    /// Tells the engine the time, until nothing is due.
    fn tell_time(&mut self) {
        // What is due may ask something that has no time for an answer.
        for _ in 0..8 {
            self.engine.handle_timeout(self.now);
            self.drain();
            if self.engine.poll_timeout().is_none_or(|next| next > self.now) {
                break;
            }
        }
        for waiting in self.waiting.values() {
            assert!(self.deadline(waiting) > self.now, "a deadline passed, and the request still waits");
        }
        self.check_acknowledged_in_time();
        if let Some(next) = self.engine.poll_timeout() {
            assert!(next > self.now, "the next deadline lies in the past");
        }
    }

    /// Time passes until something happens. An engine may wake up without a reason, and two builds at other times.
    pub(super) fn pass_to_deadline(&mut self) {
        // Messages that were written before are no effect of a wake-up.
        self.look();
        let before = self.happened;
        for _ in 0..4096 {
            let Some(next) = self.engine.poll_timeout() else { return };
            let far = Duration::from_secs(1 << 32);
            self.pass(next.duration_since(self.now).min(far));
            if self.happened > before {
                return;
            }
        }
    }

    pub(super) fn transmit(&mut self, n: usize) {
        let n = n.min(self.engine.transmit().len());
        self.trace.line(format_args!("> the server reads {n} bytes"));
        self.look();
        self.wire.read(n);
        self.engine.transmitted(n);
    }

    /// Gives idle buffers back. Nobody may see a difference.
    pub(super) fn shrink(&mut self) {
        self.trace.line(format_args!("> shrink"));
        let (in_flight, is_idle) = (self.engine.session().in_flight(), self.engine.is_idle());
        self.engine.shrink();
        assert_eq!(
            (self.engine.session().in_flight(), self.engine.is_idle()),
            (in_flight, is_idle),
            "shrink changes something"
        );
    }

    pub(super) fn end(&mut self) {
        self.trace.line(format_args!("> the stream ends"));
        self.engine.receive_eof(self.now);
        self.drain();
        assert!(
            self.over && self.engine.session().phase() == Phase::Closed,
            "the stream has ended, and the session has not"
        );
    }

    pub(super) fn close(&mut self) {
        self.trace.line(format_args!("> close"));
        self.engine.close();
        assert!(self.engine.transmit().is_empty(), "closed, and something is to be sent");
        self.wire.cut_off();
        self.drain();
        assert!(self.over && self.engine.session().phase() == Phase::Closed, "closed, and the session has not ended");
    }

    /// What must be so after each step.
    pub(super) fn check(&mut self) {
        self.drain();
        self.trace_stand();
        assert!(self.asks.len() <= MAX_ASKS, "one question too many");
        assert_eq!(
            self.engine.session().in_flight(),
            self.waiting.len(),
            "requests in flight that are not those that wait"
        );
        assert!(self.waiting.values().all(|waiting| self.engine.session().is_waiting(waiting.ticket.key())));
        self.check_subscriptions();
        let first = self.waiting.values().map(|waiting| self.deadline(waiting)).min();
        match (self.engine.session().phase(), self.engine.poll_timeout(), first) {
            (Phase::Closed, next, first) => assert!(next.is_none() && first.is_none(), "a timer after the end"),
            (Phase::Connecting, next, None) => assert!(next.is_some(), "an opening without an end"),
            (_, Some(next), Some(first)) => assert!(next <= first, "the engine would sleep through a deadline"),
            (_, None, None) => {}
            (_, Some(next), None) if self.has_other_deadlines(next) => {}
            (phase, next, first) => panic!("{phase:?}: a timer at {next:?} for a deadline at {first:?}"),
        }
        if self.engine.is_idle() {
            assert!(self.engine.space().is_some_and(|space| space.len() <= 64 << 10), "an idle engine keeps much");
        }
        assert!(self.engine.space().is_none_or(|space| space.len() <= 256 << 10), "the buffer has no bound");
    }

    /// Whether the engine may wake then for something that is no request of the caller's.
    fn has_other_deadlines(&self, next: Timestamp) -> bool {
        self.cancels_until >= next || !self.subscriptions.is_empty()
    }

    fn trace_stand(&mut self) {
        if !self.trace.is_on() {
            return;
        }
        let stood = format!(
            "{}, {} in flight, {} subscriptions, {} bytes to send, idle {}, wake {:?}, {}",
            describe::phase(self.engine.session().phase()),
            self.engine.session().in_flight(),
            self.engine.session().subscriptions(),
            self.engine.transmit().len(),
            self.engine.is_idle(),
            self.engine.poll_timeout(),
            describe::stats(self.engine.session().stats()),
        );
        if stood != self.stood {
            self.trace.line(format_args!("= {stood}"));
            self.stood = stood;
        }
    }

    /// Lets all time pass, and ends the connection: nothing is left to wait for. A deadline always fires, so no request is
    /// left without an end before.
    pub(super) fn finish(&mut self) {
        // What the server asks for and nobody answers holds up its answers for as long as they may take.
        while let Some(which) = self.asks.iter().position(|(_, during)| during.is_none()) {
            self.refuse(which);
        }
        for _ in 0..MAX_WAKES {
            self.transmit(usize::MAX);
            match self.engine.poll_timeout() {
                Some(next) if next.duration_since(self.now) < FAR => self.pass(next.duration_since(self.now)),
                _ => break,
            }
            self.check();
        }
        let next = self.engine.poll_timeout();
        assert!(next.is_none_or(|next| next.duration_since(self.now) >= FAR), "deadlines without end");
        let endless = |waiting: &Waiting| self.deadline(waiting).duration_since(self.now) >= FAR;
        assert!(self.waiting.values().all(endless), "a request without an end");
        self.shrink();
        self.check();
        if self.engine.session().phase() != Phase::Closed {
            self.close();
        }
        self.check();
        assert!(self.waiting.is_empty() && self.asks.is_empty());
        self.finish_subscriptions();
    }
}

/// An answer is kept for so long at most.
pub(super) const LONGEST_KEPT: Duration = Duration::from_secs(60);

/// How an input begins.
#[derive(Clone, Copy)]
pub(super) struct Setup(u8);

impl Setup {
    pub(super) fn of(byte: u8) -> Self {
        Setup(byte)
    }

    pub(super) fn config(self) -> Config {
        let mut config = Config::new("fuzz", "1");
        config.max_message = MAX_MESSAGE;
        config.max_transmit = MAX_TRANSMIT;
        config.max_in_flight = MAX_IN_FLIGHT;
        config.max_server_requests = MAX_ASKS;
        config.max_input_rounds = MAX_ROUNDS;
        config.max_retry_bytes = MAX_KEPT;
        config.max_tasks = MAX_TASKS;
        config.max_subscriptions = if self.0 & 128 == 0 { FEW_SUBSCRIPTIONS } else { MANY_SUBSCRIPTIONS };
        config.cache = CacheLimits::new(2_000, 4, LONGEST_KEPT);
        config.answer("roots/list");
        config.request_timeout = Duration::from_millis(500);
        config.total_timeout = Duration::from_secs(5);
        config.negotiate = match self.0 % 8 {
            0 | 4 => Negotiate::Legacy,
            1 | 5 => Negotiate::Modern,
            _ => Negotiate::Auto,
        };
        if self.0 & 16 != 0 {
            config.declare_tasks();
        }
        config
    }

    /// The server's answer to what opens the connection, if it is to be open at once.
    pub(super) fn answer(self) -> Option<String> {
        let result = match self.0 % 4 {
            0 => r#""protocolVersion":"2025-11-25""#,
            1 => r#""supportedVersions":["2026-07-28"]"#,
            _ => return None,
        };
        let capabilities = match (self.0 & 8 != 0, self.cancels_tasks()) {
            (false, _) => "",
            (true, true) => {
                r#","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#
            }
            (true, false) => {
                r#","capabilities":{"tools":{},"resources":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}"#
            }
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{result}{capabilities}}}}}"#))
    }

    /// Whether a server that says what it can do takes `tasks/cancel`.
    pub(super) fn cancels_tasks(self) -> bool {
        self.0 & 64 == 0
    }
}
