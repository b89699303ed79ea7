//! The background thread that runs the tasks of all connections.

use std::future::{Future, pending};
use std::sync::Once;
use std::thread;

use async_executor::{Executor, Task};

/// Spawns a task on the background thread. The task must not block, because the thread drives all connections.
///
/// Dropping the returned handle cancels the task; [`Task::detach`] lets it continue.
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> Task<T> {
    static EXECUTOR: Executor<'_> = Executor::new();
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        // The error is ignored: without the thread, requests fail with their timeout.
        let _ = thread::Builder::new().name("mcpwire-smol".into()).spawn(run);
    });
    EXECUTOR.spawn(task)
}
