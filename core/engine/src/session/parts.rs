//! [`Parts`]: forwards messages and deadlines to the components of a session.

#[cfg(feature = "http")]
use alloc::sync::Arc;

use super::caller_requests::CallerRequests;
use super::context::Context;
#[cfg(feature = "http")]
use super::error::CallError;
use super::error::{CloseReason, RequestFault};
use super::event::{Event, Notification};
use super::incoming::{self, ServerNotification};
use super::requests::Owner;
use super::server_requests::ServerRequests;
use super::subscriptions::Subscriptions;
use crate::rpc::received::MessageBytes;
use crate::rpc::{Response, WireId};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use mcpwire_types::text::excerpt;

/// The components of a session and their shared [`Context`], borrowed together.
pub(super) struct Parts<'a> {
    pub(super) callers: &'a mut CallerRequests,
    pub(super) server_requests: &'a mut ServerRequests,
    pub(super) subscriptions: &'a mut Subscriptions,
    pub(super) context: Context<'a>,
}

impl Parts<'_> {
    #[inline]
    pub(super) fn response(&mut self, owner: Owner, response: Response, message: impl MessageBytes) {
        match owner {
            Owner::Caller(caller) => {
                self.callers.receive(caller, response, message, self.server_requests, &mut self.context);
            }
            owner => self.own_response(&owner, response, message.bytes()),
        }
    }

    #[cold]
    #[inline(never)]
    fn own_response(&mut self, owner: &Owner, response: Response, message: &[u8]) {
        let context = &mut self.context;
        match *owner {
            Owner::Task { call, request, .. } => {
                self.callers.receive_about_task(call, request, response, message, self.server_requests, context);
            }
            Owner::Subscription(key) => self.subscriptions.receive(key, response, message, context),
            Owner::ResourceSubscribe => self.subscriptions.receive_resource(response, message, context),
            Owner::Opening(_) | Owner::Caller(_) | Owner::Nobody => {}
            #[cfg(feature = "http")]
            Owner::Transport => {}
        }
    }

    pub(super) fn fail(&mut self, owner: Owner, id: u64, fault: RequestFault) {
        let context = &mut self.context;
        match owner {
            Owner::Caller(caller) => {
                let error = fault.into_call_error(caller.method.clone());
                self.callers.fail(caller, error, context);
            }
            Owner::Task { call, request, .. } => {
                let error = fault.into_call_error(request.method().into());
                self.callers.fail_about_task(call, request, id, error, self.server_requests, context);
            }
            Owner::Subscription(key) => self.subscriptions.fail(key, fault, context),
            Owner::ResourceSubscribe => self.subscriptions.fail_resource(id, fault, context),
            Owner::Opening(_) | Owner::Nobody => {}
            #[cfg(feature = "http")]
            Owner::Transport => {}
        }
    }

    /// Handles a request from the server.
    pub(super) fn request(&mut self, id: WireId<'_>, method: &str, message: &[u8]) {
        self.server_requests.receive(id, method, message, &mut self.context);
    }

    /// Handles a notification from the server. Reports an invalid notification as [`Event::InvalidMessage`].
    pub(super) fn notification(&mut self, method: &str, message: &[u8]) {
        let Some(incoming) = incoming::read(method, message) else { return self.invalid_message(message) };
        let context = &mut self.context;
        match incoming {
            ServerNotification::Progress(progress) => {
                let id = progress.progress_token.as_ref().and_then(|token| WireId(token.get().as_bytes()).number());
                match id.and_then(|id| self.callers.progress(id, context)) {
                    Some(key) => self.report(Notification::Progress { key, progress }, message),
                    // The caller did not request progress notifications, or the request has ended.
                    None => context.stats.late += 1,
                }
            }
            ServerNotification::Cancelled => {
                if !self.subscriptions.cancelled(message, context) {
                    self.server_requests.cancelled(message, context);
                }
            }
            ServerNotification::TaskStatus(task) => self.callers.task_status(task, self.server_requests, context),
            ServerNotification::Other(notification) => self.report(notification, message),
        }
    }

    /// Reports a notification to the embedder. The [`Event::Notification`] precedes any [`Event::Subscription`] that
    /// the notification causes.
    #[inline(never)]
    fn report(&mut self, notification: Notification, message: &[u8]) {
        self.callers.invalidate(&notification, &mut self.context);
        let before = self.context.events.len();
        self.subscriptions.notified(&notification, message, &mut self.context);
        self.context.events.insert(before, Event::Notification(notification));
    }

    /// Reports an invalid message to the embedder, and counts it in the statistics.
    pub(super) fn invalid_message(&mut self, message: &[u8]) {
        self.context.stats.invalid += 1;
        self.context.report(Event::InvalidMessage { excerpt: excerpt(message) });
    }

    /// Handles the expired deadlines of requests, tasks and subscriptions.
    pub(super) fn handle_timeout(&mut self) {
        self.subscriptions.handle_timeout(&mut self.context);
        self.callers.handle_timeout(self.server_requests, &mut self.context);
    }

    pub(super) fn close(&mut self, reason: &CloseReason) {
        self.callers.close(reason, self.server_requests, &mut self.context);
        self.server_requests.withdraw_all(&mut self.context);
        self.subscriptions.close(reason, &mut self.context);
    }

    /// Handles a new HTTP session that replaces an ended one. Discards the server's unanswered requests, and subscribes
    /// to resources again, because the new session contains neither.
    #[cfg(feature = "http")]
    pub(super) fn session_replaced(&mut self) {
        self.server_requests.withdraw_all(&mut self.context);
        self.context.requests.pause(false, self.context.now);
        self.subscriptions.watch_again(&mut self.context);
        self.context.report(Event::SessionReestablished);
    }

    /// Ends all subscriptions with the error of the request `method`.
    #[cfg(feature = "http")]
    pub(super) fn end_subscriptions(&mut self, method: &'static str, error: &HttpError) {
        if self.subscriptions.has_any() {
            let error = CallError::Http { method: method.into(), error: Arc::new(error.clone()) };
            self.subscriptions.end_all(&Arc::new(error), &mut self.context);
        }
    }
}
