//! [`PendingReplies`]: the replies to requests that the program has sent and not waited for yet. [`DroppedHandles`]: the requests
//! and subscriptions to cancel because the program has dropped their handles.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use mcpwire_client::{ReplySlots, ReportCallbacks, lock};
use mcpwire_core::{Notification, RequestKey, SubscriptionKey};

/// The [`Pending`](crate::Pending) requests, with their callbacks and the replies that have already arrived.
pub(crate) type PendingReplies = ReplySlots<Callbacks>;

/// The progress and status callbacks of a pending request.
pub(crate) enum Callbacks {
    Callable(ReportCallbacks<'static>),
    /// A callback has panicked. [`Pending::wait`](crate::Pending::wait) resumes the panic with this payload.
    Panicked(Box<dyn Any + Send>),
}

/// Calls the callback for a progress notification or task status of a pending request.
///
/// If the callback panics, stores the panic, and returns the key of the request: the caller must cancel the request. Returns
/// `None` otherwise.
pub(crate) fn report(replies: &mut PendingReplies, report: &Notification) -> Option<RequestKey> {
    let key = report.request_key()?;
    let callbacks = &mut replies.get_mut(key)?.waiter;
    let Callbacks::Callable(callable) = callbacks else { return None };
    let panic = catch_unwind(AssertUnwindSafe(|| callable.call(report))).err()?;
    *callbacks = Callbacks::Panicked(panic);
    Some(key)
}

/// The requests and subscriptions whose handles the program has dropped. Handles do not borrow the client, so their `drop` can
/// only add them to this list. The client cancels them when it is used next.
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
