//! [`CallSite`]: the subscriber and span of the code that sends a request. Part of the feature `tracing`.

use ::tracing::Span;
use ::tracing::dispatcher::{self, Dispatch};

/// The subscriber and span of the code that sends a request, or the subscriber and span of the request.
///
/// The task that sends a request and the task that drives the connection can have different subscribers.
#[derive(Clone)]
pub(crate) struct CallSite {
    pub(crate) subscriber: Dispatch,
    pub(crate) span: Span,
}

impl CallSite {
    pub(crate) fn current() -> Self {
        CallSite { subscriber: current_subscriber(), span: Span::current() }
    }
}

pub(crate) fn current_subscriber() -> Dispatch {
    dispatcher::get_default(Clone::clone)
}
