//! Links requests to the code that sends them: [`TraceSource`] returns the current trace context, and [`CallSite`] has the
//! current subscriber and span of `tracing`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "tracing")]
use ::tracing::{
    Span,
    dispatcher::{self, Dispatch},
};
use mcpwire_core::{RequestOptions, TraceContext};

/// A function that returns the current trace context (W3C `traceparent`), to send it to the server. The task that sends a request
/// calls the function.
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
    /// Creates a source from a function. The function returns the current trace context, or `None` if there is no current trace.
    pub fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        TraceSource(Arc::new(current))
    }

    /// Adds the current trace context to the options of a request, unless they already contain a trace context.
    ///
    /// # Panics
    /// If the function of the program panics.
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

/// A subscriber and a span of `tracing`: those of the code that sends a request, or those of the request itself.
///
/// The subscriber is stored, because the task that drives the connection can have another one than the task that sends a request.
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
