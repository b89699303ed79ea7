//! [`Engine`]: a session and the exchanges that carry its messages. What an adapter drives.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::fmt;

use super::error::Failure;
use super::exchange::{Command, ExchangeId};
use super::legacy::Legacy;
use super::old::Way;
use super::open::{Arrived, Asked, Open};
use super::settings::{Flavour, Settings};
use super::tools::Tools;
use crate::frame::Transmit;
use crate::session::{Calls, Closed, Config, Event, Negotiate, Reply, Session};
use crate::time::Timestamp;
use crate::types::{Era, ProtocolVersion};

/// The client's side of a server that is spoken to by HTTP.
///
/// Parts of responses and time go in; exchanges, events and the next deadline come out; see the [module's page](super) for
/// the loop. Nothing in here waits, and each call does a bounded amount of work.
pub struct Engine {
    pub(super) session: Session,
    pub(super) settings: Settings,
    /// What the session wants to be sent, a message a line.
    pub(super) out: Transmit,
    pub(super) now: Timestamp,
    pub(super) commands: VecDeque<Command>,
    pub(super) next_exchange: u64,
    pub(super) open: BTreeMap<ExchangeId, Open>,
    /// Which exchange serves a request at present.
    pub(super) serving: BTreeMap<u64, ExchangeId>,
    /// How many bytes of bodies belong to exchanges whose response has not begun.
    pub(super) unsent: usize,
    /// What came and has not been looked at.
    pub(super) inbox: VecDeque<Arrived>,
    pub(super) way: Way,
    /// The version that is spoken, once the connection is open.
    pub(super) spoken: Option<ProtocolVersion>,
    pub(super) legacy: Legacy,
    pub(super) tools: Tools,
    /// Requests that were given up before they were sent, until the session's word of that has come by.
    pub(super) never_sent: BTreeSet<u64>,
    /// Requests that are to be sent again.
    pub(super) again: VecDeque<Asked>,
    /// Everything has been given up.
    pub(super) is_shut: bool,
}

impl fmt::Debug for Engine {
    /// Without what servers and callers said: ids of sessions are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("settings", &self.settings)
            .field("phase", &self.session.phase())
            .field("in_flight", &self.session.in_flight())
            .field("exchanges", &self.exchanges())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine that has sent nothing yet.
    pub fn new(mut config: Config, settings: Settings) -> Self {
        if settings.flavour == Some(Flavour::Sse) && config.negotiate == Negotiate::Auto {
            // There is no modern server behind that transport to be asked.
            config.negotiate = Negotiate::Legacy;
        }
        let mut session = Session::new(config);
        session.track_abandoned();
        Engine {
            session,
            legacy: Legacy::new(settings.seed),
            settings,
            out: Transmit::default(),
            now: Timestamp::ORIGIN,
            commands: VecDeque::new(),
            next_exchange: 1,
            open: BTreeMap::new(),
            serving: BTreeMap::new(),
            unsent: 0,
            inbox: VecDeque::new(),
            way: Way::Streamable,
            spoken: None,
            tools: Tools::default(),
            never_sent: BTreeSet::new(),
            again: VecDeque::new(),
            is_shut: false,
        }
    }

    /// What is to be done next. Poll until there is nothing after each other call, and after the events.
    pub fn poll_exchange(&mut self, now: Timestamp) -> Option<Command> {
        self.now = self.now.max(now);
        for id in self.session.take_abandoned() {
            self.give_up(id);
        }
        loop {
            if let Some(command) = self.commands.pop_front() {
                return Some(command);
            }
            if !self.send_next() {
                return None;
            }
        }
    }

    /// Takes in the head of a response: its status and its headers, in any order. Interim responses (1xx) need not be told.
    ///
    /// Only the headers that the protocol knows are looked at, and of those that are too long for their purpose nothing is
    /// kept.
    pub fn response<'h>(
        &mut self,
        id: ExchangeId,
        status: u16,
        headers: impl IntoIterator<Item = (&'h str, &'h [u8])>,
        now: Timestamp,
    ) {
        self.now = self.now.max(now);
        let mut head = super::incoming::Head::new(status);
        for (name, value) in headers {
            head.take(name, value);
        }
        self.head(id, head);
    }

    /// Takes in the next bytes of a response's body. They may be cut anywhere; a piece should not be longer than what is read
    /// at once, as what is made of it waits for [`Engine::poll_event`].
    pub fn body(&mut self, id: ExchangeId, bytes: &[u8], now: Timestamp) {
        self.now = self.now.max(now);
        self.piece(id, bytes);
    }

    /// Takes in that a response has ended as it should.
    pub fn ended(&mut self, id: ExchangeId, now: Timestamp) {
        self.now = self.now.max(now);
        self.over(id, None);
    }

    /// Takes in that an exchange failed, at whatever point.
    pub fn failed(&mut self, id: ExchangeId, failure: Failure, now: Timestamp) {
        self.now = self.now.max(now);
        self.over(id, Some(failure));
    }

    /// The next event. Poll until there is none after each input; what the server sent is looked at here, message by message.
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.session.poll_event() {
                return Some(self.seen(event));
            }
            let (now, out) = (self.now, self.out.buffer());
            if self.session.resume(now, out) {
                continue;
            }
            let arrived = self.inbox.pop_front()?;
            self.arrived(arrived);
        }
    }

    /// Returns the calls of the connection: requests, notifications, subscriptions, answers.
    pub fn calls(&mut self) -> Calls<'_> {
        Calls::new(&mut self.session, self.out.buffer(), &mut self.now, self.unsent)
    }

    /// Returns what is known of the connection.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The next deadline: call [`Engine::handle_timeout`] then. Calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        if self.is_shut {
            return None;
        }
        [self.session.poll_timeout(), self.legacy.next_timeout()].into_iter().flatten().min()
    }

    /// Lets time pass: what was due by `now` happens.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        if self.is_shut {
            return;
        }
        self.session.handle_timeout(self.now, self.out.buffer());
        self.legacy_timeout();
    }

    /// Ends the connection from this side: all requests end, and all exchanges are given up but those that tell the server
    /// something, such as that a request was cancelled. A legacy session is ended on the server after that, too: what
    /// [`Engine::poll_exchange`] still gives is that, and [`Engine::exchanges`] is 0 once it is done. Nobody needs to wait for
    /// it.
    pub fn close(&mut self) {
        self.session.close(Closed::ByClient);
        self.shut();
    }

    /// Which shape of the transport is spoken, once the connection is open: worth remembering for the next time.
    pub fn flavour(&self) -> Option<Flavour> {
        self.spoken.map(|_| if self.way.is_sse() { Flavour::Sse } else { Flavour::Streamable })
    }

    /// How many exchanges are under way.
    pub fn exchanges(&self) -> usize {
        self.open.len()
    }

    /// Whether nothing is under way: no request, nothing to send, nothing received that was not looked at. A stream that
    /// waits for news of the server's does not count.
    pub fn is_idle(&self) -> bool {
        let queues = self.commands.is_empty() && self.inbox.is_empty() && self.again.is_empty();
        self.session.in_flight() == 0 && self.out.pending().is_empty() && queues && !self.session.is_in_batch()
    }

    /// Gives back the buffers if nothing is under way.
    pub fn shrink(&mut self) {
        if self.is_idle() {
            self.session.release_buffers();
            self.out.let_go();
            self.inbox = VecDeque::new();
            self.commands = VecDeque::new();
            self.again = VecDeque::new();
        }
    }

    /// Takes a reply that has been read. Over HTTP its memory is of no use to other messages; the call is there for adapters
    /// that speak to both kinds of engine.
    pub fn recycle(&mut self, reply: Reply) {
        drop(reply);
    }

    /// Where the server is, and how it is spoken to.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn is_modern(&self) -> bool {
        self.spoken.is_some_and(|version| version.era() == Era::Modern)
    }

    /// What an event of the session's means for the exchanges.
    fn seen(&mut self, mut event: Event) -> Event {
        match &mut event {
            Event::Reply(reply) => reply.mirrored = reply.method() == "tools/list" && self.is_modern(),
            // The answer to the other of the two requests that open a connection is not wanted any more.
            Event::Connected => {
                self.spoken = self.session.server().map(|server| server.protocol_version);
                self.abort_unwanted();
            }
            Event::Closed(_) => self.shut(),
            _ => {}
        }
        event
    }

    /// Gives up the exchanges of requests that nobody waits for.
    fn abort_unwanted(&mut self) {
        let unwanted: Vec<u64> = self.serving.keys().copied().filter(|id| !self.session.waits_for(*id)).collect();
        for id in unwanted {
            self.give_up(id);
        }
    }

    /// Gives up everything but what the server is being told already, such as that a request was cancelled, and after that the
    /// end of a session.
    fn shut(&mut self) {
        if core::mem::replace(&mut self.is_shut, true) {
            return;
        }
        self.out.clear();
        self.inbox.clear();
        self.again.clear();
        self.never_sent.clear();
        let open: Vec<ExchangeId> =
            self.open.iter().filter(|(_, open)| !open.tells_something()).map(|(id, _)| *id).collect();
        for id in open {
            self.abort(id);
        }
        self.end_session_in_turn();
    }
}
