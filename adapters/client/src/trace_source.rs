//! Where in a trace the program is.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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
pub struct TraceSource(Arc<Named>);

/// Gives options of a request with what the program knows of its place in a trace; `None` outside of all traces.
type Named = dyn Fn(&RequestOptions) -> Option<RequestOptions> + Send + Sync;

impl TraceSource {
    /// A source that is such a function. `None` is for what is in no trace.
    pub fn new(current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static) -> Self {
        // What it takes to name a trace is in here, so that it is part of no program that names none.
        TraceSource(Arc::new(move |options| current().map(|context| options.in_trace(&context))))
    }

    /// The options of a request that is sent from here. Those that name a trace themselves are left alone.
    pub fn options<'o>(&self, options: &'o RequestOptions) -> Cow<'o, RequestOptions> {
        (self.0)(options).map_or(Cow::Borrowed(options), Cow::Owned)
    }
}

impl fmt::Debug for TraceSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSource").finish_non_exhaustive()
    }
}
