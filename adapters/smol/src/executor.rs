//! The background thread that runs the tasks of all connections.

use std::future::{Future, pending};
use std::sync::Once;
use std::thread;

use async_executor::Executor;

static EXECUTOR: Executor<'_> = Executor::new();

/// Spawns a task on the background thread. The task must not block, because the thread drives all connections.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    executor().spawn(task).detach();
}

/// Returns the executor of the background thread. The first call starts the thread.
pub(crate) fn executor() -> &'static Executor<'static> {
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        // The error is ignored: without the thread, requests fail with their timeout.
        let _ = thread::Builder::new().name("mcpwire-smol".into()).spawn(run);
    });
    &EXECUTOR
}
