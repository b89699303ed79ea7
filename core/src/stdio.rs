//! [`Engine`]: a [`Session`] together with the bytes of a stream. What an adapter drives.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;

use crate::frame::{Input, Line, Receive, Transmit};
use crate::json::{self, Json};
use crate::method::{CallTool, Method, Notice, Params, Raw, SetLevel};
use crate::rpc::RpcError;
use crate::session::{
    AskKey, Closed, Config, Event, Message, Phase, Prepared, PreparedRequest, Reply, RequestKey, RequestOptions,
    SendError, ServerInfo, Session, Stats, SubscribeOptions, SubscriptionEvent, SubscriptionKey, Ticket,
};
use crate::time::Timestamp;
use crate::types::{LoggingLevel, SubscriptionFilter, TaskHandle};

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
                    match self.receive.last().filter(|line| json::is_whole(line.bytes())) {
                        Some(line) => self.session.receive(line, now, out),
                        None => self.session.close(Closed::ByServer),
                    }
                }
                None => return None,
            }
        }
    }

    /// Whether the answer to a request of this method may be one that is kept: then what the server has told by now should
    /// have been taken in first.
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        self.session.keeps_answers_to::<M>()
    }

    /// Whether something that the embedder did has made an event, such as a cancel or a refusal: it is to be polled although
    /// nothing has come in.
    pub fn has_events(&self) -> bool {
        self.session.has_events()
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
            self.session.let_go();
            self.receive.let_go();
            self.transmit.let_go();
        }
    }

    /// The next deadline: call [`Engine::handle_timeout`] then. Calling it earlier does no harm.
    pub fn poll_timeout(&self) -> Option<Timestamp> {
        self.session.poll_timeout()
    }

    /// Begins to open the connection. Ends in [`Event::Connected`], [`Event::Restart`] or [`Event::Closed`].
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.now = self.now.max(now);
        self.session.initialize(self.now, self.transmit.buffer())
    }

    /// Sends a request. Its end is an [`Event::Reply`] that the ticket decodes.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, a limit is reached, the parameters are no JSON object, or the
    /// protocol version or the server does not have the method ([`revisions`](crate::revisions)).
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.now = self.now.max(now);
        self.session.request(params, options, self.now, self.transmit.buffer())
    }

    /// As [`Engine::request`], with parameters that are text already.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.now = self.now.max(now);
        self.session.request_prepared(params, options, self.now, self.transmit.buffer())
    }

    /// As [`Engine::request_prepared`], whatever the method. [`Prepared::ticket`] makes a ticket of the key.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.now = self.now.max(now);
        self.session.send_prepared(request, options, self.now, self.transmit.buffer())
    }

    /// Sends a request of any method, whether the protocol version and the server have it or not. A `_meta` among the
    /// parameters is merged with what the era wants there.
    ///
    /// # Errors
    /// As [`Engine::request`], but for those of [`revisions`](crate::revisions).
    pub fn request_raw(
        &mut self,
        method: &str,
        params: Option<&Json>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<Raw>, SendError> {
        self.now = self.now.max(now);
        self.session.request_raw(method, params, options, self.now, self.transmit.buffer())
    }

    /// Says from which level on log messages are wanted. A legacy server is told with a request, which the ticket is for;
    /// for a modern server there is none, and each request that is sent from now on says it.
    ///
    /// # Errors
    /// As [`Engine::request`], in both eras. Also for a level that the specification does not have, if the server is modern:
    /// it would refuse all requests.
    pub fn set_log_level(
        &mut self,
        level: &LoggingLevel,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Option<Ticket<SetLevel>>, SendError> {
        self.now = self.now.max(now);
        self.session.set_log_level(level, options, self.now, self.transmit.buffer())
    }

    /// Follows a task that was begun earlier, in this connection or another one. It ends as its call would have, in an
    /// [`Event::Reply`] that the ticket decodes. The server is asked at once, and then in the intervals that it wishes.
    ///
    /// [`RequestOptions::timeout`] is that of each question; [`RequestOptions::total_timeout`] is for all, from now on. To
    /// give up, or to run out of time, ends the following only: whoever has the handle may come back for the task.
    ///
    /// # Errors
    /// If the connection is not open, a limit is reached, or the revision that is spoken has no tasks.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.now = self.now.max(now);
        self.session.follow_task(handle, options, self.now, self.transmit.buffer())
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn notify<N: Notice>(&mut self, params: &N::Params) -> Result<(), SendError> {
        self.session.notify::<N>(params, self.transmit.buffer())
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Engine::request_raw`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        self.session.notify_raw(method, params, self.transmit.buffer())
    }

    /// Gives up a request: its reply says so, and the server is told. `false` if it had ended already.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>) -> bool {
        self.session.cancel(key, reason, self.now, self.transmit.buffer())
    }

    /// Asks to be told of changes. See [`Session::subscribe`].
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, or a limit is reached.
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        self.now = self.now.max(now);
        self.session.subscribe(wanted, options, self.now, self.transmit.buffer())
    }

    /// Ends a subscription, and forgets what was still to be taken. The server is told. `false` if it was over already.
    pub fn unsubscribe(&mut self, key: SubscriptionKey) -> bool {
        self.session.unsubscribe(key, self.transmit.buffer())
    }

    /// How many subscriptions there are, with those that are over and not taken to their end.
    #[inline]
    pub fn subscriptions(&self) -> usize {
        self.session.subscriptions()
    }

    /// Takes what a subscription has to tell. After [`SubscriptionEvent::Ended`] it is forgotten.
    pub fn poll_subscription(&mut self, key: SubscriptionKey) -> Option<SubscriptionEvent> {
        self.session.poll_subscription(key)
    }

    /// Answers what the server asked for with an object. `false` if nobody waits for it any more: the server has given it
    /// up, the request that it was for has ended, or the connection has.
    ///
    /// # Errors
    /// If the result does not serialise as an object; the server still waits then.
    pub fn answer(
        &mut self,
        key: AskKey,
        result: &(impl Serialize + ?Sized),
        now: Timestamp,
    ) -> Result<bool, SendError> {
        self.now = self.now.max(now);
        self.session.answer(key, result, self.now, self.transmit.buffer())
    }

    /// Refuses what the server asked for. `false` as for [`Engine::answer`].
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp) -> bool {
        self.now = self.now.max(now);
        self.session.refuse(key, error, self.now, self.transmit.buffer())
    }

    /// Refuses what the server asked for, because the program's handler panicked. See [`Session::handler_panicked`].
    pub fn handler_panicked(&mut self, key: AskKey, message: &str, now: Timestamp) -> bool {
        self.now = self.now.max(now);
        self.session.handler_panicked(key, message, self.now, self.transmit.buffer())
    }

    /// Whether the server is to be told that the roots have changed: see [`Session::tells_roots_changes`].
    pub fn tells_roots_changes(&self) -> bool {
        self.session.tells_roots_changes()
    }

    /// Ends the connection from this side: all requests end. What was not written yet is dropped.
    pub fn close(&mut self) {
        self.end(Closed::ByClient);
    }

    /// Ends the connection as [`Engine::close`] does, because this side cannot go on. Requests that wait end with the reason.
    pub fn close_failed(&mut self, why: Arc<str>) {
        self.end(Closed::Failed(why));
    }

    fn end(&mut self, how: Closed) {
        self.transmit.clear();
        self.session.close(how);
    }

    /// How far the connection has come.
    pub fn phase(&self) -> Phase {
        self.session.phase()
    }

    /// To whom it is open; stays known after its end, unless it was taken.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.session.server()
    }

    /// Takes out what [`Engine::server`] shows, for who keeps it elsewhere.
    pub fn take_server(&mut self) -> Option<Arc<ServerInfo>> {
        self.session.take_server()
    }

    /// An engine that opens the connection to a server that is started once more, after [`Event::Restart`], when `spent`
    /// has passed since the opening began. It takes the configuration over.
    #[must_use]
    pub fn restarted(&mut self, spent: Duration) -> Engine {
        Engine::of(self.session.restarted(spent))
    }

    /// How many requests wait for an answer, those counted whose server waits for input.
    pub fn in_flight(&self) -> usize {
        self.session.in_flight()
    }

    /// Whether a request waits for its answer.
    pub fn is_waiting(&self, key: RequestKey) -> bool {
        self.session.is_waiting(key)
    }

    /// Whether nothing is under way: no request, nothing to send, nothing received that was not looked at.
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.transmit().is_empty() && self.receive.is_empty() && !self.session.is_in_batch()
    }

    /// What was left aside so far.
    pub fn stats(&self) -> Stats {
        self.session.stats()
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        self.session.config()
    }
}
