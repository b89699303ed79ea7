//! [`Pair`]: an engine, a server and the time.

use core::fmt;
use core::time::Duration;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, Config, Event, Json, Method, Phase, Raw, Reply, RequestKey, RequestOptions,
    SendError, SubscribeOptions, SubscriptionEvent, SubscriptionFilter, SubscriptionKey, Ticket, Timestamp,
};

use super::course::{self, Course, Replies, Saying};
use super::peer::{self, Peer, Sent};

type Server = dyn FnMut(&Sent, &mut Peer);

/// An engine and a server that talk in simulated time.
pub struct Pair {
    /// The client's side.
    pub engine: Engine,
    /// Whether the server has stopped reading, so that the client's bytes wait.
    pub stuck: bool,
    /// Everything that the client sent.
    pub sent: Vec<Sent>,
    /// All events except replies, and when each occurred.
    pub events: Vec<(Duration, Event)>,
    server: Box<Server>,
    /// The simulated time, for calls of the engine.
    pub now: Timestamp,
    /// The bytes that the server is going to send; `None` is the end of its stream.
    saying: Saying<Option<Vec<u8>>>,
    replies: Replies,
    /// The incomplete last line that the client has sent.
    line: Vec<u8>,
    chunk: usize,
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair").field("now", &self.now).field("engine", &self.engine).finish_non_exhaustive()
    }
}

impl Pair {
    /// Creates a pair whose connection is not opened yet.
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

    /// Creates a pair and opens the connection, as far as this is possible without a change of the time.
    pub fn opening(config: Config, server: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        let mut pair = Pair::new(config, server);
        pair.engine.calls().initialize(pair.now).expect("a new engine can be opened");
        pair.drive();
        pair
    }

    /// Creates a pair with an open connection, and clears the events and messages of its opening.
    pub fn open(config: Config, server: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        let mut pair = Pair::opening(config, server);
        assert_eq!(pair.engine.session().phase(), Phase::Ready, "{:?}", pair.events);
        pair.events.clear();
        pair.sent.clear();
        pair
    }

    /// Creates a pair with an open connection to a legacy server, whose later messages `rest` decides.
    pub fn legacy(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(Config::default(), peer::legacy(rest))
    }

    /// Creates a pair with an open connection to a modern server, whose later messages `rest` decides.
    pub fn modern(rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(Config::default(), peer::modern(rest))
    }

    /// As [`Pair::legacy`], with this configuration.
    pub fn legacy_with(config: Config, rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(config, peer::legacy(rest))
    }

    /// As [`Pair::modern`], with this configuration.
    pub fn modern_with(config: Config, rest: impl FnMut(&Sent, &mut Peer) + 'static) -> Pair {
        Pair::open(config, peer::modern(rest))
    }

    /// Makes each side read at most `size` bytes at a time.
    #[must_use]
    pub fn in_pieces_of(mut self, size: usize) -> Pair {
        self.chunk = size;
        self
    }

    /// Returns the simulated time since the creation of the pair.
    pub fn elapsed(&self) -> Duration {
        self.now.since_origin()
    }

    /// Sends a `tools/call` without arguments.
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

    /// Opens a subscription, and runs both sides until nothing more happens.
    pub fn subscribe(&mut self, wanted: &SubscriptionFilter, options: &SubscribeOptions) -> SubscriptionKey {
        let key = self.engine.calls().subscribe(wanted, options, self.now).expect("it is sent");
        self.drive();
        key
    }

    /// Removes and returns the events of a subscription.
    pub fn taken(&mut self, key: SubscriptionKey) -> Vec<SubscriptionEvent> {
        std::iter::from_fn(|| self.engine.calls().poll_subscription(key)).collect()
    }

    /// Removes and decodes the reply to a request. Returns `None` if the request has not ended.
    pub fn take<M: Method>(&mut self, ticket: Ticket<M>) -> Option<Result<M::Result, CallError>> {
        self.replies.take(ticket)
    }

    /// Removes and returns the reply to a request without decoding it. Returns `None` if the request has not ended.
    pub fn reply(&mut self, key: RequestKey) -> Option<Reply> {
        self.replies.reply(key)
    }

    /// Returns the text of the result of a call, which must have succeeded.
    pub fn text(&mut self, ticket: Ticket<CallTool>) -> String {
        self.replies.text(ticket)
    }

    /// Returns the error of a request, which must have failed.
    pub fn error<M: Method<Result: fmt::Debug>>(&mut self, ticket: Ticket<M>) -> CallError {
        self.replies.error(ticket)
    }

    /// Returns when a request ended, or `None` if it has not ended or its reply was taken.
    pub fn ended_at<M: Method>(&self, ticket: Ticket<M>) -> Option<Duration> {
        self.replies.ended_at(ticket)
    }

    /// Returns the methods of the messages that the client sent, in order.
    pub fn methods(&self) -> Vec<&str> {
        self.sent.iter().map(Sent::method).collect()
    }

    /// Returns the events so far, without their times.
    pub fn happened(&self) -> Vec<&Event> {
        self.events.iter().map(|(_, event)| event).collect()
    }

    /// Lets the server send a line, and runs both sides until nothing more happens.
    pub fn say(&mut self, line: impl AsRef<[u8]>) {
        let mut peer = Peer::default();
        peer.say(line);
        self.plan(peer);
        self.drive();
    }

    /// Lets the server close its stream.
    pub fn end(&mut self) {
        let mut peer = Peer::default();
        peer.end();
        self.plan(peer);
        self.drive();
    }

    /// Runs both sides until neither does anything more at this time.
    pub fn drive(&mut self) {
        course::drive(self);
    }

    /// Advances the time by `time`, in steps: each timeout and each message of the server occurs at its own time.
    pub fn pass(&mut self, time: Duration) {
        course::pass(self, time);
    }

    /// Passes the bytes that the client has written to the server.
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

    /// Passes the bytes that the server sends now to the client.
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
