//! [`Clock`]: the time of an engine.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use mcpwire_core::Timestamp;

/// The time of an engine.
#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    System(Instant),
    Other(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// Creates a clock from the system's monotonic clock. Its origin is now.
    pub fn system() -> Self {
        Clock(Kind::System(Instant::now()))
    }

    /// Creates a clock from a function: that of a runtime, or of a test. The function must not go backwards, and must not
    /// call the client.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Kind::Other(Arc::new(now)))
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::System(origin) => Timestamp::from_origin(origin.elapsed()),
            Kind::Other(now) => now(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}
