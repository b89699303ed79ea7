//! [`DroppedHandles`]: requests and subscriptions whose handles were dropped.

use std::sync::{Arc, Mutex, PoisonError};

use mcpwire_core::{RequestKey, SubscriptionKey};

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    }

    pub(crate) fn take(&self) -> Vec<DroppedHandle> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
