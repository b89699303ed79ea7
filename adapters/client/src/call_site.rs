//! [`CallSite`]: the `tracing` span and subscriber of the code that sends a request. Part of the feature `tracing`.

use tracing::Span;
use tracing::dispatcher::{self, Dispatch};
use tracing::subscriber::NoSubscriber;

/// The span and the subscriber of the code that sends a request.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) subscriber: Subscriber,
    pub(crate) span: Span,
}

impl CallSite {
    /// Returns the current subscriber and span.
    pub(crate) fn current() -> Self {
        CallSite { subscriber: Subscriber::current(), span: Span::current() }
    }
}

/// A `tracing` subscriber. The task that sends a request and the task that drives the connection can have different subscribers.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber(Dispatch);

impl Subscriber {
    /// Returns the current subscriber.
    pub(crate) fn current() -> Self {
        Subscriber(dispatcher::get_default(Clone::clone))
    }

    /// Calls `f` with this subscriber as the current one. Without a subscriber, `f` uses the one of the calling thread.
    pub(crate) fn emit<T>(&self, f: impl FnOnce() -> T) -> T {
        if self.0.is::<NoSubscriber>() { f() } else { dispatcher::with_default(&self.0, f) }
    }
}
