//! What embedders ask of the session: as with [`stdio::Engine`](crate::stdio::Engine).

use serde::Serialize;

use super::engine::Engine;
use crate::json::Json;
use crate::method::{CallTool, Method, Notice, Params, Raw, SetLevel};
use crate::rpc::RpcError;
use crate::session::{
    AskKey, Phase, Prepared, PreparedRequest, RequestKey, RequestOptions, SendError, SubscribeOptions,
    SubscriptionEvent, SubscriptionKey, Ticket,
};
use crate::time::Timestamp;
use crate::types::{LoggingLevel, SubscriptionFilter, TaskHandle};

impl Engine {
    /// Begins to open the connection. Ends in [`Event::Connected`](crate::Event::Connected) or [`Event::Closed`](crate::Event::Closed).
    pub fn initialize(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.now = self.now.max(now);
        self.session.initialize(self.now, self.out.buffer())
    }

    /// Sends a request. Its end is an [`Event::Reply`](crate::Event::Reply) that the ticket decodes.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, a limit is reached, or the parameters are no JSON object.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.check_room(now)?;
        let ticket = self.session.request(params, options, self.now, self.out.buffer())?;
        self.note(ticket.key(), options);
        Ok(ticket)
    }

    /// As [`Engine::request`], with parameters that are text already.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, or a limit is reached.
    pub fn request_prepared<M: Method>(
        &mut self,
        params: &Prepared<M>,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<M>, SendError> {
        self.check_room(now)?;
        let ticket = self.session.request_prepared(params, options, self.now, self.out.buffer())?;
        self.note(ticket.key(), options);
        Ok(ticket)
    }

    /// As [`Engine::request_prepared`], whatever the method. [`Prepared::ticket`] makes a ticket of the key.
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, or a limit is reached.
    pub fn send_prepared(
        &mut self,
        request: &PreparedRequest,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<RequestKey, SendError> {
        self.check_room(now)?;
        let key = self.session.send_prepared(request, options, self.now, self.out.buffer())?;
        self.note(key, options);
        Ok(key)
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
        self.check_room(now)?;
        let ticket = self.session.request_raw(method, params, options, self.now, self.out.buffer())?;
        self.note(ticket.key(), options);
        Ok(ticket)
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
        self.check_room(now)?;
        self.session.set_log_level(level, options, self.now, self.out.buffer())
    }

    /// Follows a task that was begun earlier. See [`Session::follow_task`](crate::Session::follow_task).
    ///
    /// # Errors
    /// If the connection is not open, or a limit is reached.
    pub fn follow_task(
        &mut self,
        handle: &TaskHandle,
        options: &RequestOptions,
        now: Timestamp,
    ) -> Result<Ticket<CallTool>, SendError> {
        self.check_room(now)?;
        self.session.follow_task(handle, options, self.now, self.out.buffer())
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn notify<N: Notice>(&mut self, params: &N::Params) -> Result<(), SendError> {
        self.session.notify::<N>(params, self.out.buffer())
    }

    /// Sends a notification of any method.
    ///
    /// # Errors
    /// As [`Engine::request`].
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), SendError> {
        self.session.notify_raw(method, params, self.out.buffer())
    }

    /// Gives up a request: its reply says so, and the server is told: modern ones by the end of the exchange, others in
    /// words. `false` if it had ended already.
    pub fn cancel(&mut self, key: RequestKey, reason: Option<&str>) -> bool {
        let id = self.session.id_of(key);
        let cancelled = self.session.cancel(key, reason, self.now, self.out.buffer());
        if let Some(id) = id.filter(|_| cancelled) {
            self.give_up(id);
        }
        cancelled
    }

    /// Asks to be told of changes. See [`Session::subscribe`](crate::Session::subscribe).
    ///
    /// # Errors
    /// If nothing was sent: the connection is not open, or a limit is reached.
    pub fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        now: Timestamp,
    ) -> Result<SubscriptionKey, SendError> {
        self.check_room(now)?;
        self.session.subscribe(wanted, options, self.now, self.out.buffer())
    }

    /// Ends a subscription, and forgets what was still to be taken. The server is told. `false` if it was over already.
    pub fn unsubscribe(&mut self, key: SubscriptionKey) -> bool {
        self.session.unsubscribe(key, self.out.buffer())
    }

    /// How many subscriptions there are, with those that are over and not taken to their end.
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
        self.session.answer(key, result, self.now, self.out.buffer())
    }

    /// Refuses what the server asked for. `false` as for [`Engine::answer`].
    pub fn refuse(&mut self, key: AskKey, error: &RpcError, now: Timestamp) -> bool {
        self.now = self.now.max(now);
        self.session.refuse(key, error, self.now, self.out.buffer())
    }

    /// Refuses what the server asked for, because the program's handler panicked. See
    /// [`Session::handler_panicked`](crate::Session::handler_panicked).
    pub fn handler_panicked(&mut self, key: AskKey, message: &str, now: Timestamp) -> bool {
        self.now = self.now.max(now);
        self.session.handler_panicked(key, message, self.now, self.out.buffer())
    }

    /// Whether the answer to a request of this method may be one that is kept: then what the server has told by now should
    /// have been taken in first.
    #[inline]
    pub fn keeps_answers_to<M: Method>(&self) -> bool {
        self.session.keeps_answers_to::<M>()
    }

    /// Whether the server is to be told that the roots have changed: see
    /// [`Session::tells_roots_changes`](crate::Session::tells_roots_changes).
    pub fn tells_roots_changes(&self) -> bool {
        self.session.tells_roots_changes()
    }

    fn check_room(&mut self, now: Timestamp) -> Result<(), SendError> {
        self.now = self.now.max(now);
        let limit = self.session.config().max_transmit;
        if self.unsent > limit && self.phase() == Phase::Ready {
            return Err(SendError::TransmitFull { limit });
        }
        Ok(())
    }

    fn note(&mut self, key: RequestKey, options: &RequestOptions) {
        if options.repeatable
            && let Some(id) = self.session.id_of(key)
        {
            self.repeatable.insert(id);
        }
    }
}
