//! The thread that runs the tasks of all connections.

use std::future::{Future, pending};
use std::sync::Once;
use std::thread;

use async_executor::Executor;

static EXECUTOR: Executor<'_> = Executor::new();

/// Runs a task on the thread that drives all connections. The task must not block: no connection moves meanwhile.
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    executor().spawn(task).detach();
}

/// Returns the executor of the thread, and starts the thread on the first call.
pub(crate) fn executor() -> &'static Executor<'static> {
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        // If the thread cannot be started, no connection moves.
        let _ = thread::Builder::new().name("mcpwire-smol".into()).spawn(run);
    });
    &EXECUTOR
}
