//! The runtime that lives as long as the process.

use std::future::pending;
use std::sync::OnceLock;
use std::thread;

use mcpwire_driver::process::check_descriptors;
use tokio::runtime::{Builder, Handle};

/// Maximum number of descriptors that a runtime opens when it is built, with some to spare: a poller with a copy and a waker, and
/// two ends and a copy of the socket for signals.
const RUNTIME_DESCRIPTORS: usize = 8;

/// Returns the runtime that lives as long as the process. The first call starts its thread, which sleeps while there are no tasks.
///
/// Returns `None` if the system has no thread or descriptor left.
pub(crate) fn get() -> Option<Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    RUNTIME.get_or_init(start).clone()
}

fn start() -> Option<Handle> {
    // Where the feature `signal` of tokio is enabled, building a runtime panics without descriptors.
    check_descriptors(RUNTIME_DESCRIPTORS).ok()?;
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(pending::<()>());
    thread::Builder::new().name("mcpwire-process".to_owned()).spawn(run).ok()?;
    Some(handle)
}
