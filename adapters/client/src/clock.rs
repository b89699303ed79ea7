//! [`Clock`]: the clock of a connection.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use mcpwire_core::Timestamp;

/// The clock of a connection, for its timeouts: the system's monotonic clock, or a function of the program.
#[derive(Clone)]
pub struct Clock(Kind);

#[derive(Clone)]
enum Kind {
    System(Instant),
    Custom(Arc<dyn Fn() -> Timestamp + Send + Sync>),
}

impl Clock {
    /// Creates a clock that reads the system's monotonic clock. Its time starts at zero now.
    pub fn system() -> Self {
        Clock(Kind::System(Instant::now()))
    }

    /// Creates a clock from a function, for a runtime or a test with simulated time.
    ///
    /// The returned times must not decrease. The function must not call the client.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Clock(Kind::Custom(Arc::new(now)))
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Kind::System(origin) => Timestamp::from_origin(origin.elapsed()),
            Kind::Custom(now) => now(),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?})", self.now())
    }
}
