//! [`PendingReplies`]: the replies to the requests that the program has begun.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mcpwire_client::ReportCallbacks;
use mcpwire_core::{Notification, Reply, RequestKey};

/// The [`Pending`](crate::Pending) requests, with the replies that have already arrived. Replies to other requests are dropped.
#[derive(Default)]
pub(crate) struct PendingReplies(BTreeMap<RequestKey, PendingReply>);

/// The state of a pending request.
pub(crate) enum PendingReply {
    /// The reply has not arrived. Contains the callbacks of the request.
    Waiting(ReportCallbacks<'static>),
    /// The reply, for which the program has not waited yet.
    Arrived(Reply),
    /// A callback of the request has panicked. Contains the panic, for the program that waits for the reply.
    Panicked(Box<dyn Any + Send>),
}

impl PendingReplies {
    /// Adds a request whose reply is stored until the program waits for it.
    pub(crate) fn add(&mut self, key: RequestKey, callbacks: ReportCallbacks<'static>) {
        self.0.insert(key, PendingReply::Waiting(callbacks));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a request.
    pub(crate) fn take(&mut self, key: RequestKey) -> Option<PendingReply> {
        self.0.remove(&key)
    }

    #[cfg(feature = "tool-client")]
    pub(crate) fn get(&self, key: RequestKey) -> Option<&PendingReply> {
        self.0.get(&key)
    }

    /// Stores the reply to a request, unless a callback of the request has panicked.
    pub(crate) fn receive(&mut self, reply: Reply) {
        if let Some(pending @ PendingReply::Waiting(_)) = self.0.get_mut(&reply.key()) {
            *pending = PendingReply::Arrived(reply);
        }
    }

    /// Calls the callback for a notification that belongs to a request. If the callback panics, stores the panic, and returns
    /// the request, which must be cancelled.
    pub(crate) fn report(&mut self, report: &Notification) -> Option<RequestKey> {
        let key = report.request_key()?;
        let pending = self.0.get_mut(&key)?;
        let PendingReply::Waiting(callbacks) = pending else { return None };
        let panic = catch_unwind(AssertUnwindSafe(|| callbacks.call(report))).err()?;
        *pending = PendingReply::Panicked(panic);
        Some(key)
    }
}
