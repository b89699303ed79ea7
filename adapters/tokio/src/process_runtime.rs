//! The runtime that lives as long as the process.

use std::future::pending;
use std::sync::OnceLock;
use std::thread;

use tokio::runtime::{Builder, Handle};

/// Returns the runtime that lives as long as the process. The first call starts its thread, which sleeps while there are no tasks.
///
/// Returns `None` if the system has no thread or descriptor left.
pub(crate) fn get() -> Option<Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    RUNTIME.get_or_init(start).clone()
}

fn start() -> Option<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build().ok()?;
    let handle = runtime.handle().clone();
    let run = move || runtime.block_on(pending::<()>());
    thread::Builder::new().name("mcpwire-process".to_owned()).spawn(run).ok()?;
    Some(handle)
}
