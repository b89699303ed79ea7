//! What a request takes along from the code that sends it: [`TraceSource`] knows the trace context, [`CallSite`] the
//! subscriber and span.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tracing")]
use ::tracing::{
    Span,
    dispatcher::{self, Dispatch},
};
use mcpwire_core::{RequestOptions, TraceContext};

/// Returns the current trace context. The task that sends a request calls it for each request.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::TraceSource; pub mod types { pub use mcpwire_core::TraceContext; } }
/// use mcpwire::TraceSource;
/// use mcpwire::types::TraceContext;
///
/// let source = TraceSource::new(|| TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").ok());
/// ```
#[derive(Clone)]
pub struct TraceSource(Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>);

impl TraceSource {
    /// Creates a source from a function that returns the current trace context, or `None` outside of all traces.
    pub fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        TraceSource(Arc::new(current))
    }

    /// Returns the options with the current trace context, unless they already contain a trace context.
    ///
    /// # Panics
    /// If the program's function panics.
    pub fn options<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        match (self.0)() {
            Some(context) => Cow::Owned(options.in_trace(&context)),
            None => Cow::Borrowed(options),
        }
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").finish_non_exhaustive()
    }
}

/// The subscriber and span of the code that sends a request, or the subscriber and span of the request.
///
/// The task that sends a request and the task that drives the connection can have different subscribers.
#[cfg(feature = "tracing")]
#[derive(Clone)]
pub(crate) struct CallSite {
    pub(crate) subscriber: Dispatch,
    pub(crate) span: Span,
}

#[cfg(feature = "tracing")]
impl CallSite {
    pub(crate) fn current() -> Self {
        CallSite { subscriber: current_subscriber(), span: Span::current() }
    }
}

#[cfg(feature = "tracing")]
pub(crate) fn current_subscriber() -> Dispatch {
    dispatcher::get_default(Clone::clone)
}
