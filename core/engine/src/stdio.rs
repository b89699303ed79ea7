//! [`Engine`]: a [`Session`] together with the bytes of a stream. What an adapter drives.

use alloc::vec::Vec;
use core::time::Duration;

use crate::frame::{Input, Line, Receive, Transmit};
use crate::json;
use crate::session::{Calls, Closed, Config, Event, Message, Phase, Reply, Session};
use crate::time::Timestamp;

/// The client's side of a byte stream: a child's pipes, a socket, anything that carries a message a line.
///
/// Bytes and time go in, bytes, events and the next deadline come out; see the [crate's page](crate) for the loop. Nothing
/// in here waits, and each call does a bounded amount of work.
#[derive(Debug)]
pub struct Engine {
    session: Session,
    receive: Receive,
    transmit: Transmit,
    now: Timestamp,
    /// The stream has ended; what it brought is still to be looked at.
    ended: bool,
}

impl Message for Line<'_> {
    fn bytes(&self) -> &[u8] {
        Line::bytes(self)
    }

    fn into_bytes(self) -> Vec<u8> {
        Line::into_bytes(self)
    }
}

impl Engine {
    /// An engine that has sent nothing yet.
    pub fn new(config: Config) -> Self {
        Engine::of(Session::new(config))
    }

    fn of(session: Session) -> Self {
        Engine {
            receive: Receive::new(session.config().max_message),
            session,
            transmit: Transmit::default(),
            now: Timestamp::ORIGIN,
            ended: false,
        }
    }

    /// Where the next bytes of the stream go. Empty while lines wait to be polled and the buffer is full: do not read.
    pub fn space(&mut self) -> &mut [u8] {
        self.receive.space()
    }

    /// Takes in that `n` bytes were read into [`Engine::space`].
    pub fn filled(&mut self, n: usize, now: Timestamp) {
        self.now = self.now.max(now);
        self.receive.filled(n);
    }

    /// Takes in bytes that lie elsewhere; tells how many of them were taken. Fewer than all means that events are to be
    /// polled first.
    pub fn receive(&mut self, bytes: &[u8], now: Timestamp) -> usize {
        self.now = self.now.max(now);
        let mut taken = 0;
        while taken < bytes.len() {
            let space = self.receive.space();
            let n = space.len().min(bytes.len() - taken);
            if n == 0 {
                break;
            }
            space[..n].copy_from_slice(&bytes[taken..taken + n]);
            self.receive.filled(n);
            taken += n;
        }
        taken
    }

    /// Takes in that the stream has ended. The events of what came before are still to be polled.
    pub fn receive_eof(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        self.ended = true;
    }

    /// Lets time pass: what was due by `now` happens.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        self.session.handle_timeout(self.now, self.transmit.buffer());
    }

    /// What is to be written to the stream next.
    pub fn transmit(&self) -> &[u8] {
        self.transmit.pending()
    }

    /// Takes in that `n` bytes of [`Engine::transmit`] were written.
    pub fn transmitted(&mut self, n: usize) {
        self.transmit.sent(n);
    }

    /// The next event. Poll until there is none after each input; what the server sent is looked at here, line by line.
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.session.poll_event() {
                return Some(event);
            }
            let (now, out) = (self.now, self.transmit.buffer());
            if self.session.resume(now, out) {
                continue;
            }
            match self.receive.next() {
                Some(Input::Line(line)) => self.session.receive(line, now, out),
                Some(Input::Overlong { head }) => self.session.receive_overlong(&head, now, out),
                Some(Input::OverlongEnd { tail }) => self.session.receive_overlong_end(&tail, now, out),
                None if self.ended && self.session.phase() != Phase::Closed => {
                    // A last line without its newline counts if it is whole; half a line is no answer.
                    match self.receive.last().filter(|line| json::is_json(line.bytes())) {
                        Some(line) => self.session.receive(line, now, out),
                        None => self.session.close(Closed::ByServer),
                    }
                }
                None => return None,
            }
        }
    }

    /// Gives back a reply that has been read, whose memory may serve the next large message. Not needed, and it is at most
    /// 2 MiB that is kept so; worth it where large results follow one another.
    pub fn recycle(&mut self, reply: Reply) {
        if let Some(bytes) = reply.into_message() {
            self.receive.recycle(bytes);
        }
    }

    /// Gives back the buffers if nothing is under way: a connection that waits for something to do needs none. The next
    /// [`Engine::space`] and the next request make them again, so it is worth it where many connections wait for long.
    pub fn shrink(&mut self) {
        if self.is_idle() {
            self.session.release_buffers();
            self.receive.let_go();
            self.transmit.let_go();
        }
    }

    /// The next deadline: call [`Engine::handle_timeout`] then. Calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.session.poll_timeout()
    }

    /// Returns the calls of the connection: requests, notifications, subscriptions, answers.
    pub fn calls(&mut self) -> Calls<'_> {
        Calls::new(&mut self.session, self.transmit.buffer(), &mut self.now, 0)
    }

    /// Returns what is known of the connection.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Ends the connection from this side: all requests end. What was not written yet is dropped.
    pub fn close(&mut self) {
        self.transmit.clear();
        self.session.close(Closed::ByClient);
    }

    /// An engine that opens the connection to a server that is started once more, after [`Event::Restart`], when `spent`
    /// has passed since the opening began. It takes the configuration over.
    #[must_use]
    pub fn restarted(&mut self, spent: Duration) -> Engine {
        Engine::of(self.session.restarted(spent))
    }

    /// Whether nothing is under way: no request, nothing to send, nothing received that was not looked at.
    pub fn is_idle(&self) -> bool {
        self.session.in_flight() == 0
            && self.transmit().is_empty()
            && self.receive.is_empty()
            && !self.session.is_in_batch()
    }
}
