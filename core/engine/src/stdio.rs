//! [`Engine`]: a [`Session`] over a byte stream.

use alloc::sync::Arc;

use crate::frame::{FrameInput, ReceiveBuffer};
use crate::rpc::Received;
use crate::session::{Calls, CloseReason, Config, Event, Outbox, Phase, Session};
use crate::time::Timestamp;
use mcpwire_text::json;

/// The engine of one connection over a byte stream with one message per line, such as the pipes of a server process
/// or a socket.
///
/// The adapter passes received bytes and the time to the engine, and obtains bytes to send, events and the next
/// deadline. See the [crate documentation](crate) for the loop. No call blocks, and each call does a bounded amount
/// of work.
#[derive(Debug)]
pub struct Engine {
    session: Session,
    receive: ReceiveBuffer,
    /// Why the byte stream has ended, or `None` if it has not. Received lines may still be unprocessed.
    end: Option<CloseReason>,
    /// Whether the last line that was too long was a request or a notification of the server, as far as its beginning shows.
    overlong_has_method: bool,
}

impl Engine {
    /// Creates an engine with this configuration. The engine sends nothing until its first request.
    pub fn new(config: Config) -> Self {
        let receive = ReceiveBuffer::new(config.max_message);
        Engine { receive, session: Session::new(config, Outbox::default()), end: None, overlong_has_method: false }
    }

    /// Returns the buffer for the next read, or `None` if the buffer is full. Then poll events before reading more.
    ///
    /// A returned buffer is never empty, so a read of 0 bytes always means the end of the stream. After
    /// [`poll_event`](Engine::poll_event) has returned `None`, there is always space.
    pub fn space(&mut self) -> Option<&mut [u8]> {
        self.receive.space()
    }

    /// Reports that `n` bytes were read into the buffer that [`Engine::space`] returned.
    pub fn filled(&mut self, n: usize, now: Timestamp) {
        self.session.advance(now);
        self.receive.filled(n);
    }

    /// Copies received bytes into the engine, and returns the number of accepted bytes. If some were not accepted,
    /// poll events before passing the rest.
    pub fn receive(&mut self, bytes: &[u8], now: Timestamp) -> usize {
        self.session.advance(now);
        let mut taken = 0;
        while taken < bytes.len() {
            let Some(space) = self.receive.space() else { break };
            let n = space.len().min(bytes.len() - taken);
            space[..n].copy_from_slice(&bytes[taken..taken + n]);
            self.receive.filled(n);
            taken += n;
        }
        taken
    }

    /// Reports that the server closed the byte stream. Continue to poll events, because received messages may still be
    /// unprocessed.
    pub fn receive_eof(&mut self, now: Timestamp) {
        self.session.advance(now);
        self.end.get_or_insert(CloseReason::ByServer);
    }

    /// Reports that the byte stream ended with the error `why`. Continue to poll events, because received messages may
    /// still be unprocessed. Requests that are pending after that fail with this reason.
    pub fn receive_error(&mut self, why: Arc<str>, now: Timestamp) {
        self.session.advance(now);
        self.end = Some(CloseReason::Failed(why));
    }

    /// Handles all timeouts that have expired by `now`.
    pub fn handle_timeout(&mut self, now: Timestamp) {
        self.session.advance(now);
        self.session.handle_timeout();
    }

    /// Returns the bytes to write to the stream next.
    pub fn transmit(&self) -> &[u8] {
        self.session.outbox().bytes()
    }

    /// Reports that `n` bytes of [`Engine::transmit`] were written. The engine then discards these bytes.
    pub fn transmitted(&mut self, n: usize) {
        self.session.outbox_mut().sent(n);
    }

    /// Returns the next event, or `None` if no event is ready. Parses the received lines, one by one.
    ///
    /// After each input, call this method until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.session.poll_event() {
                return Some(event);
            }
            if self.session.resume() {
                continue;
            }
            match self.receive.next() {
                Some(FrameInput::Line(line)) => self.session.receive(Received::new(line)),
                Some(FrameInput::Overlong { head }) => {
                    let head = Received::new(&head[..]);
                    self.overlong_has_method = head.has_method();
                    self.session.receive_overlong(&head);
                }
                // The id of a request of the server is not that of a request of the client.
                Some(FrameInput::OverlongEnd { .. }) if self.overlong_has_method => {}
                Some(FrameInput::OverlongEnd { tail }) => self.session.receive_overlong_end(&tail),
                None if self.end.is_some() && self.session.phase() != Phase::Closed => {
                    // An unterminated last line is processed only if it is complete JSON.
                    if let Some(line) = self.receive.take_last().filter(|line| json::is_json(line.as_ref())) {
                        self.session.receive(Received::new(line));
                    } else if let Some(reason) = self.end.take() {
                        self.session.close(reason);
                    }
                }
                None => return None,
            }
        }
    }

    /// Frees the engine's buffers if the connection is idle.
    ///
    /// The next read or request allocates them again. Call this for connections that remain idle for long, if there
    /// are many.
    pub fn shrink(&mut self) {
        if self.is_idle() {
            self.session.release_buffers();
            self.receive.release_if_empty();
            self.session.outbox_mut().release_if_empty();
        }
    }

    /// Returns when to call [`Engine::handle_timeout`] next, or `None` if no timeout is running. An earlier call of
    /// that method does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.session.poll_timeout()
    }

    /// Returns a handle that sends requests, notifications and responses through this engine.
    pub fn calls(&mut self) -> Calls<'_> {
        Calls::new(&mut self.session, 0)
    }

    /// Returns the session of this engine: the negotiated version, the server's capabilities and the pending
    /// requests.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Closes the connection, fails all pending requests, and discards unwritten bytes.
    pub fn close(&mut self) {
        self.session.outbox_mut().clear();
        self.session.close(CloseReason::ByClient);
    }

    /// Closes the connection because of the local failure `why`. All pending requests fail with this reason, and
    /// unwritten bytes are discarded.
    pub fn close_failed(&mut self, why: Arc<str>) {
        self.session.outbox_mut().clear();
        self.session.close(CloseReason::Failed(why));
    }

    /// Returns whether the connection is idle: no request is pending, and no bytes are waiting to be sent or parsed.
    pub fn is_idle(&self) -> bool {
        self.session.in_flight() == 0
            && self.transmit().is_empty()
            && self.receive.is_empty()
            && !self.session.is_in_batch()
    }
}
