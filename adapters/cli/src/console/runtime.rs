//! The tokio runtime of a command.

use std::io;

use mcpwire_process::check_descriptors;
use tokio::runtime::{Builder, Runtime};

/// Maximum number of file descriptors that a new runtime opens: six, with some to spare. These are a poller, its copy and its
/// waker, and the two ends and a copy of the socket for signals.
const DESCRIPTORS: usize = 8;

/// Creates a single-threaded tokio runtime.
///
/// # Errors
/// If the system has no descriptors left. tokio panics in some of these cases, so this is checked first.
pub(super) fn runtime() -> io::Result<Runtime> {
    check_descriptors(DESCRIPTORS)?;
    Builder::new_current_thread().enable_all().build()
}
