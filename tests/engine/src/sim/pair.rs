//! [`Pair`]: an engine, a server and the time.

use core::fmt;
use core::time::Duration;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Config, Event, Json, Method, Phase, Raw, Reply, RequestKey, RequestOptions,
    SendError, SubscribeOptions, SubscriptionEvent, SubscriptionFilter, SubscriptionKey, Ticket, Timestamp,
};

use super::course::{self, Course, Saying};
use super::peer::{Peer, Sent};
use super::replies::Replies;
use super::scripts;

type Server = dyn FnMut(&Sent, &mut Peer);

/// An engine and a server that talk in simulated time.
pub struct Pair {
    /// The client's side.
    pub engine: Engine,
    /// While it is set, the server reads nothing.
    pub stuck: bool,
    /// Everything that the client sent.
    pub sent: Vec<Sent>,
    /// Everything that happened, replies aside, and when.
    pub events: Vec<(Duration, Event)>,
    server: Box<Server>,
    /// The present moment, for calls of the engine.
    pub now: Timestamp,
    /// Bytes; `None` for the end of the stream.
    saying: Saying<Option<Vec<u8>>>,
    replies: Replies,
    /// The beginning of a line that the client sends.
    line: Vec<u8>,
    chunk: usize,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair").field("now", &self.now).field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Pair {
    /// A pair that has not said a word.
    pub fn new(config: Config, server: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair {
            engine: Engine::new(config),
            stuck: false,
            sent: Vec::new(),
            events: Vec::new(),
            server: Box::new(server),
            now: Timestamp::ORIGIN,
            saying: Saying::new(),
            replies: Replies::default(),
            line: Vec::new(),
            chunk: usize::MAX,
        }
    }

    /// A pair that has been opened, as far as it goes without time passing.
    pub fn opening(config: Config, server: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        let mut pair = Pair::new(config, server);
        pair.engine.calls().initialize(pair.now).expect("a new engine can be opened");
        pair.drive();
        pair
    }

    /// A pair that is open, with nothing of the opening left to see.
    pub fn open(config: Config, server: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        let mut pair = Pair::opening(config, server);
        assert_eq!(pair.engine.session().phase(), Phase::Ready, "{:?}", pair.events);
        pair.events.clear();
        pair.sent.clear();
        pair
    }

    /// A pair that is open, with a legacy server that does the rest as `rest` says.
    pub fn legacy(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(Config::default(), scripts::legacy(rest))
    }

    /// A pair that is open, with a modern server that does the rest as `rest` says.
    pub fn modern(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(Config::default(), scripts::modern(rest))
    }

    /// Cuts what either side reads into pieces of `size` bytes.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Pair {
        self.chunk = size;
        self
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.now.since_origin()
    }

    /// Sends a call of a tool.
    ///
    /// # Errors
    /// If the engine does not send it.
    pub fn call(&mut self, tool: &str, options: &RequestOptions) -> Result<Ticket<CallTool>, SendError> {
        let params = CallToolParams { name: tool, arguments: &Json::parse("{}").expect("an object") };
        self.engine.calls().request::<CallTool>(&params, options, self.now)
    }

    /// Sends a request of any method.
    ///
    /// # Errors
    /// If the engine does not send it.
    pub fn raw(&mut self, method: &str, params: Option<&str>) -> Result<Ticket<Raw>, SendError> {
        let params = params.map(|text| Json::parse(text).expect("the test gives JSON"));
        self.engine.calls().request_raw(method, params.as_ref(), &RequestOptions::new(), self.now)
    }

    /// Asks to be told of changes, and drives it.
    pub fn subscribe(&mut self, wanted: &SubscriptionFilter, options: &SubscribeOptions) -> SubscriptionKey {
        let key = self.engine.calls().subscribe(wanted, options, self.now).expect("it is sent");
        self.drive();
        key
    }

    /// Takes all that a subscription has to tell.
    pub fn taken(&mut self, key: SubscriptionKey) -> Vec<SubscriptionEvent> {
        std::iter::from_fn(|| self.engine.calls().poll_subscription(key)).collect()
    }

    /// What came of a request, decoded, once there is something.
    pub fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        self.replies.take(ticket)
    }

    /// The reply to a request, unread, once there is one.
    pub fn reply(&mut self, key: RequestKey) -> Option<Reply> {
        self.replies.reply(key)
    }

    /// The text of the answer to a call.
    pub fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.replies.text(ticket)
    }

    /// What ended a request without a result.
    pub fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.replies.error(ticket)
    }

    /// When a request ended, if it has.
    pub fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.replies.ended_at(ticket)
    }

    /// The methods of what the client sent, in order.
    pub fn methods(&self) -> Vec<&str> {
        self.sent.iter().map(Sent::method).collect()
    }

    /// The events so far, without their times.
    pub fn happened(&self) -> Vec<&Event> {
        self.events.iter().map(|(_, event)| event).collect()
    }

    /// Lets the server say a line.
    pub fn say(&mut self, line: impl AsRef<[u8]>) {
        let mut peer = Peer::default();
        peer.say(line);
        self.plan(peer);
        self.drive();
    }

    /// Lets the server close the stream.
    pub fn end(&mut self) {
        let mut peer = Peer::default();
        peer.end();
        self.plan(peer);
        self.drive();
    }

    /// Lets both talk until neither has anything to say without time passing.
    pub fn drive(&mut self) {
        course::drive(self);
    }

    /// Lets time pass, and everything happen at its time.
    pub fn pass(&mut self, time: Duration) {
        course::pass(self, time);
    }

    /// Hands to the server what the client sends.
    fn flush(&mut self) -> bool {
        if self.stuck || self.engine.transmit().is_empty() {
            return false;
        }
        let pending = self.engine.transmit();
        let n = pending.len().min(self.chunk);
        self.line.extend_from_slice(&pending[..n]);
        self.engine.transmitted(n);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            let line = core::mem::replace(&mut self.line, rest);
            let sent = Sent::new(&line[..end]);
            let mut peer = Peer::default();
            (self.server)(&sent, &mut peer);
            self.sent.push(sent);
            self.plan(peer);
        }
        true
    }

    fn plan(&mut self, peer: Peer) {
        for (delay, bytes) in peer.said {
            self.saying.add(self.now + delay, bytes);
        }
    }

    /// Hands to the client what the server says now.
    fn deliver(&mut self) -> bool {
        let Some(said) = self.saying.take(self.now) else { return false };
        let Some(bytes) = said else {
            self.engine.receive_eof(self.now);
            return true;
        };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let piece = &rest[..rest.len().min(self.chunk)];
            let mut taken = self.engine.receive(piece, self.now);
            if taken == 0 {
                // The buffer grows when what is in it has been looked at.
                self.poll();
                taken = self.engine.receive(piece, self.now);
            }
            assert!(taken > 0, "no room although every event was taken");
            rest = &rest[taken..];
        }
        true
    }

    fn poll(&mut self) -> bool {
        let mut happened = false;
        while let Some(event) = self.engine.poll_event() {
            happened = true;
            match event {
                Event::Reply(reply) => self.replies.add(self.elapsed(), reply),
                event => self.events.push((self.elapsed(), event)),
            }
        }
        happened
    }
}

impl Course for Pair {
    fn clock(&mut self) -> &mut Timestamp {
        &mut self.now
    }

    fn turn(&mut self) -> bool {
        let sent = self.flush();
        let heard = self.deliver();
        let happened = self.poll();
        sent || heard || happened
    }

    fn next_said(&self) -> Option<Timestamp> {
        self.saying.next()
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.engine.poll_timeout()
    }

    fn tell_time(&mut self) {
        self.engine.handle_timeout(self.now);
    }
}
