//! [`runtime`]: the tokio runtimes of this process.

use std::io;

use mcpwire_process::check_descriptors;
use tokio::runtime::{Builder, Runtime};

/// Maximum number of descriptors that a runtime opens when it is built, with some to spare: a poller with a copy and a waker, and
/// two ends and a copy of the socket for signals.
const DESCRIPTORS: usize = 8;

/// Creates a single-threaded tokio runtime.
///
/// # Errors
/// If the system has no descriptors left. tokio panics in some of these cases, so this is checked first.
pub(crate) fn runtime() -> io::Result<Runtime> {
    check_descriptors(DESCRIPTORS)?;
    Builder::new_current_thread().enable_all().build()
}
