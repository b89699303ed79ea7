//! How a [`Session`] receives messages of the server, and passes them to its parts.

use alloc::string::ToString;

use super::connection::Connection;
use super::error::RequestFault;
use super::event::{Event, Notification};
use super::requests::{OpeningRequest, Owner};
use super::session::Session;
use crate::frame::Message;
use crate::rpc::received::ReceivedKind;
use crate::rpc::{Batch, Received, Response, WireId, decode, last_id, peer_error};
use mcpwire_text::excerpt;
use mcpwire_text::json::from_json::FromJson;
use mcpwire_types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated};

impl Session {
    /// Handles a received message. Of a JSON-RPC batch, handles only the messages up to the first that causes an event;
    /// [`Self::resume`] handles the others.
    pub(crate) fn receive(&mut self, received: Received<impl AsRef<[u8]> + Into<Message>>) {
        while self.resume() {}
        if self.link.connection.is_closed() {
            return;
        }
        if received.kind == ReceivedKind::Batch {
            self.batch = Some(Batch::new(received.message.into()));
            self.resume();
        } else {
            self.receive_one(received);
        }
    }

    /// Handles further messages of the current JSON-RPC batch, until one of them causes an event or the batch ends.
    /// Returns `false` if no batch is being read.
    ///
    /// Handling the whole batch at once could queue events that need far more memory than the batch.
    pub(crate) fn resume(&mut self) -> bool {
        let Some(mut batch) = self.batch.take() else { return false };
        let before = self.link.events.len();
        while let Some(element) = batch.next_message() {
            if self.link.connection.is_closed() {
                continue;
            }
            self.receive_one(Received::new(&batch.bytes[element]));
            if self.link.events.len() > before {
                self.batch = Some(batch);
                return true;
            }
        }
        if !batch.has_messages {
            self.invalid_message(&batch.bytes);
        }
        true
    }

    /// Returns whether a JSON-RPC batch is being read.
    pub(crate) fn is_in_batch(&self) -> bool {
        self.batch.is_some()
    }

    fn receive_one(&mut self, received: Received<impl AsRef<[u8]> + Into<Message>>) {
        let Received { message, kind } = received;
        let bytes = message.as_ref();
        match kind {
            ReceivedKind::Response(response) => self.response(response, message),
            ReceivedKind::ForeignResponse => self.link.stats.unmatched += 1,
            ReceivedKind::Request { id, method } => {
                self.callers.waiting.server_requests.receive(
                    WireId(&bytes[id]),
                    &method.of(bytes),
                    bytes,
                    &mut self.link,
                );
            }
            ReceivedKind::Notification { method } => {
                if self.notification(&method.of(bytes), bytes).is_none() {
                    self.invalid_message(bytes);
                }
            }
            ReceivedKind::OrphanError => self.orphan_error(bytes),
            ReceivedKind::Invalid | ReceivedKind::Batch => self.invalid_message(bytes),
        }
    }

    fn response(&mut self, response: Response, message: impl AsRef<[u8]> + Into<Message>) {
        let Some(owner) = self.link.requests.remove(response.id) else {
            if self.link.requests.was_sent(response.id) {
                self.link.stats.late += 1;
            } else {
                self.link.stats.unmatched += 1;
            }
            return;
        };
        self.settle(response.id, owner, Ok((response, message)));
    }

    /// Fails the request with the JSON-RPC id `id`, for example because its HTTP exchange failed. Returns `false` if no
    /// such request is pending.
    pub(crate) fn fail(&mut self, id: u64, fault: RequestFault) -> bool {
        let Some(owner) = self.link.requests.remove(id) else { return false };
        self.settle(id, owner, Err::<(Response, &[u8]), _>(fault));
        true
    }

    /// Passes the response to a request, or the reason why it has none, to the owner of the request.
    fn settle<M: AsRef<[u8]> + Into<Message>>(
        &mut self,
        id: u64,
        owner: Owner,
        answer: Result<(Response, M), RequestFault>,
    ) {
        let link = &mut self.link;
        match (owner, answer) {
            (Owner::Caller(caller), Ok((response, message))) => self.callers.receive(caller, response, message, link),
            (Owner::Caller(caller), Err(fault)) => {
                let error = fault.into_call_error(caller.method.clone());
                self.callers.fail(caller, error, link);
            }
            (Owner::Task { call, request, .. }, Ok((response, message))) => {
                self.callers.waiting.receive_about_task(call, request, response, message.into(), link);
            }
            (Owner::Task { call, request, .. }, Err(fault)) => {
                let error = fault.into_call_error(request.method().into());
                self.callers.waiting.fail_about_task(call, request, error, link);
            }
            (Owner::Subscription(key), answer) => {
                let answer = answer.and_then(|(response, message)| decode::answer(message.as_ref(), response));
                self.subscriptions.listen_ended(key, answer, link);
            }
            (Owner::ResourceSubscribe, answer) => {
                let answer = answer.and_then(|(response, message)| decode::answer_skipped(message.as_ref(), response));
                self.subscriptions.resource_answered(id, answer, link);
            }
            (Owner::Opening(request), answer) => self.step_opening(|opening| opening.answered(request, answer)),
            (Owner::Nobody, _) => {}
            #[cfg(feature = "http")]
            (Owner::Transport, _) => {}
        }
    }

    /// Handles the beginning of a message that exceeds [`Config::max_message`](super::Config::max_message). If `head`
    /// contains the id of a pending request, that request fails. Otherwise reports an invalid message.
    pub(crate) fn receive_overlong(&mut self, head: &Received<&[u8]>) {
        if self.link.connection.is_closed() {
            return;
        }
        if !head.response().is_some_and(|response| self.fail_overlong(response.id, head.message)) {
            self.invalid_message(head.message);
        }
    }

    /// Handles the end of a message that exceeds [`Config::max_message`](super::Config::max_message). If `tail` contains
    /// the id of a pending request, that request fails.
    ///
    /// A server may send the id of a response after the result, so the beginning of the message need not contain the
    /// id.
    pub(crate) fn receive_overlong_end(&mut self, tail: &[u8]) {
        if let Some(id) = last_id(tail).and_then(WireId::number) {
            self.fail_overlong(id, tail);
        }
    }

    fn fail_overlong(&mut self, id: u64, seen: &[u8]) -> bool {
        let error = peer_error::too_long(self.link.config.max_message, seen);
        self.fail(id, RequestFault::Invalid(error))
    }

    /// Handles an error response without an id: as the response to `server/discover` while only that request was sent to
    /// open the connection, otherwise as an [`Event::UnmatchedError`].
    fn orphan_error(&mut self, message: &[u8]) {
        let Some(error) = decode::orphan_error(message) else { return self.invalid_message(message) };
        if matches!(&self.link.connection, Connection::Opening(opening) if opening.handshake.is_probing()) {
            self.link.requests.remove_opening(OpeningRequest::Discover);
            self.step_opening(|opening| opening.handshake.discovered(Err(RequestFault::Server(error))));
        } else {
            self.link.report(Event::UnmatchedError(error));
        }
    }

    /// Reports an invalid message to the embedder, and counts it in the statistics.
    fn invalid_message(&mut self, message: &[u8]) {
        self.link.stats.invalid += 1;
        self.link.report(Event::InvalidMessage { excerpt: excerpt(message) });
    }

    /// Handles a notification from the server. Returns `None` if it is invalid.
    fn notification(&mut self, method: &str, message: &[u8]) -> Option<()> {
        let link = &mut self.link;
        match method {
            "notifications/progress" => {
                let progress: Progress = params(message)?;
                let id = progress.progress_token.as_ref().and_then(|token| WireId(token.get().as_bytes()).number());
                match id.and_then(|id| self.callers.progress(id, link)) {
                    Some(key) => self.report(Notification::Progress { key, progress }, message),
                    // The caller did not request progress notifications, or the request has ended.
                    None => link.stats.late += 1,
                }
            }
            // The server cancels one of its requests, or ends a subscription.
            "notifications/cancelled" => {
                if !self.subscriptions.cancelled(message, link) {
                    self.callers.waiting.server_requests.cancelled(message, link);
                }
            }
            "notifications/tasks/status" | "notifications/tasks" => {
                self.callers.waiting.task_notified(params(message)?, link);
            }
            _ => self.report(read(method, message)?, message),
        }
        Some(())
    }

    /// Reports a notification to the embedder. The [`Event::Notification`] precedes any [`Event::Subscription`] that
    /// the notification causes.
    fn report(&mut self, notification: Notification, message: &[u8]) {
        self.callers.cache.notified(&notification, &mut self.link.requests);
        let before = self.link.events.len();
        self.subscriptions.notified(&notification, message, &mut self.link);
        self.link.events.insert(before, Event::Notification(notification));
    }
}

fn read(method: &str, message: &[u8]) -> Option<Notification> {
    Some(match method {
        "notifications/message" => Notification::Log(params::<LogMessage>(message)?),
        "notifications/tools/list_changed" => Notification::ToolsChanged,
        "notifications/prompts/list_changed" => Notification::PromptsChanged,
        "notifications/resources/list_changed" => Notification::ResourcesChanged,
        "notifications/elicitation/complete" => {
            Notification::ElicitationComplete(params::<ElicitationComplete>(message)?)
        }
        "notifications/resources/updated" => match params::<ResourceUpdated>(message) {
            Some(updated) => Notification::ResourceUpdated(updated),
            None => other(method, message)?,
        },
        _ => other(method, message)?,
    })
}

fn other(method: &str, message: &[u8]) -> Option<Notification> {
    let params = decode::params(message)?.ok();
    Some(Notification::Other { method: method.to_string(), params })
}

fn params<P: FromJson>(message: &[u8]) -> Option<P> {
    decode::params(message)?.ok()
}
