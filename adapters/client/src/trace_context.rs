//! [`TraceSource`]: the trace context of the code that sends a request.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

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
pub struct TraceSource(Arc<TraceFn>);

/// Returns the options with the current trace context, or `None` outside of all traces. An error is the payload of a panic in
/// the program's code.
type TraceFn = dyn Fn(&RequestOptions) -> thread::Result<Option<RequestOptions>> + Send + Sync;

impl TraceSource {
    /// Creates a source from a function that returns the current trace context, or `None` outside of all traces.
    pub fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        // Calls `in_trace` here and not in the clients, so that programs without a trace source do not contain its code.
        TraceSource(Arc::new(move |options| {
            catch_unwind(AssertUnwindSafe(|| current().map(|context| options.in_trace(&context))))
        }))
    }

    /// Returns the options with the current trace context, unless they already contain a trace context.
    ///
    /// # Panics
    /// If the program's function panics.
    pub fn options<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        let traced = self.try_options(options).unwrap_or_else(|payload| resume_unwind(payload));
        traced.map_or(Cow::Borrowed(options), Cow::Owned)
    }

    /// Returns the options with the current trace context, or `None` outside of all traces.
    ///
    /// # Errors
    /// The payload of a panic in the program's function.
    pub(crate) fn try_options(&self, options: &RequestOptions) -> thread::Result<Option<RequestOptions>> {
        (self.0)(options)
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").finish_non_exhaustive()
    }
}
