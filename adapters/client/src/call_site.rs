//! [`CallSite`]: where a request is sent, for its span. Part of the feature `tracing`.

use tracing::Span;
use tracing::dispatcher::{self, Dispatch};
use tracing::subscriber::NoSubscriber;

/// The subscriber and the span that are current where a request is sent.
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

/// The subscriber of a task, which may differ from the subscriber of the task that drives the connection.
#[derive(Clone, Debug)]
pub(crate) struct Subscriber(Dispatch);

impl Subscriber {
    /// Returns the current subscriber.
    pub(crate) fn current() -> Self {
        Subscriber(dispatcher::get_default(Clone::clone))
    }

    /// Calls `f`, which emits to this subscriber. If there was none, `f` emits to the current subscriber.
    pub(crate) fn emit<T>(&self, f: impl FnOnce() -> T) -> T {
        if self.0.is::<NoSubscriber>() { f() } else { dispatcher::with_default(&self.0, f) }
    }
}
