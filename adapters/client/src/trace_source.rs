//! Where in a trace the program is.

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use mcpwire_core::{RequestOptions, TraceContext};

/// Knows where in a trace the program is right now: it is asked at each request, by whoever sends it.
///
/// ```
/// use mcpwire_core::TraceContext;
/// use mcpwire_client::TraceSource;
///
/// let source = TraceSource::new(|| TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").ok());
/// ```
#[derive(Clone)]
pub struct TraceSource(Arc<TraceFn>);

/// Returns the options with the trace context of the calling code, or `None` outside of all traces. An error is the payload of a
/// panic in the program's code.
type TraceFn = dyn Fn(&RequestOptions) -> thread::Result<Option<RequestOptions>> + Send + Sync;

impl TraceSource {
    /// A source that is such a function. `None` is for what is in no trace.
    pub fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        // What it takes to name a trace is in here, so that it is part of no program that names none.
        TraceSource(Arc::new(move |options| {
            catch_unwind(AssertUnwindSafe(|| current().map(|context| options.in_trace(&context))))
        }))
    }

    /// The options of a request that is sent from here. Those that name a trace themselves are left alone.
    pub fn options<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        let traced = self.try_options(options).unwrap_or_else(|payload| resume_unwind(payload));
        traced.map_or(Cow::Borrowed(options), Cow::Owned)
    }

    /// Returns the options with the trace context of the calling code, or `None` outside of all traces.
    ///
    /// # Errors
    /// The payload of a panic in the program's code.
    pub(crate) fn try_options(&self, options: &RequestOptions) -> thread::Result<Option<RequestOptions>> {
        (self.0)(options)
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").finish_non_exhaustive()
    }
}
