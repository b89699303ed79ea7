//! A tokio runtime that lives as long as the process, for tasks that must not be lost when the program's runtime ends.

use std::future::pending;
use std::sync::OnceLock;
use std::thread;

use mcpwire_driver::process::check_descriptors;
use tokio::runtime::{Builder, Handle};

/// Number of file descriptors that must be free to build a runtime.
///
/// A runtime opens up to six: a poller, a copy of it, a waker, and two ends and a copy of the socket for signals. Two are spare.
const RUNTIME_DESCRIPTORS: usize = 8;

/// Returns a handle of the runtime that lives as long as the process. The first call starts its thread, which sleeps while there
/// are no tasks.
///
/// Returns `None` if the system had no thread or file descriptor left at the first call.
pub(crate) fn get() -> Option<Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    RUNTIME.get_or_init(start).clone()
}

fn start() -> Option<Handle> {
    // If tokio's feature `signal` is enabled, building a runtime panics when no file descriptor is left.
    check_descriptors(RUNTIME_DESCRIPTORS).ok()?;
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(pending::<()>());
    thread::Builder::new().name("mcpwire-process".to_owned()).spawn(run).ok()?;
    Some(handle)
}
