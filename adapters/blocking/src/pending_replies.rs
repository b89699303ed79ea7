//! [`PendingReplies`]: the requests that the program has begun, with the replies that have already arrived.
//! [`DroppedHandles`]: the requests and subscriptions whose handles were dropped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use mcpwire_client::{ReplySlots, ReportCallbacks, lock};
use mcpwire_core::{Notification, RequestKey, SubscriptionKey};

/// The [`Pending`](crate::Pending) requests.
pub(crate) type PendingReplies = ReplySlots<Callbacks>;

/// The callbacks of a pending request.
pub(crate) enum Callbacks {
    Callable(ReportCallbacks<'static>),
    /// A callback has panicked. Contains the panic, for the program that waits for the reply.
    Panicked(Box<dyn Any + Send>),
}

/// Calls the callback for a notification that belongs to a request. If the callback panics, stores the panic, and returns the
/// request, which must be cancelled.
pub(crate) fn report(replies: &mut PendingReplies, report: &Notification) -> Option<RequestKey> {
    let key = report.request_key()?;
    let callbacks = &mut replies.get_mut(key)?.waiter;
    let Callbacks::Callable(callable) = callbacks else { return None };
    let panic = catch_unwind(AssertUnwindSafe(|| callable.call(report))).err()?;
    *callbacks = Callbacks::Panicked(panic);
    Some(key)
}

/// The requests and subscriptions whose handles were dropped. The client cancels them when it is used next.
#[derive(Clone, Debug, Default)]
pub(crate) struct DroppedHandles(Arc<Mutex<Vec<DroppedHandle>>>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum DroppedHandle {
    Request(RequestKey),
    Subscription(SubscriptionKey),
}

impl DroppedHandles {
    pub(crate) fn push(&self, handle: DroppedHandle) {
        lock(&self.0).push(handle);
    }

    pub(crate) fn take(&self) -> Vec<DroppedHandle> {
        std::mem::take(&mut *lock(&self.0))
    }
}
