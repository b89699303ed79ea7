//! The thread that runs the tasks of all connections.

use std::future::{Future, pending};
use std::sync::Once;
use std::thread;

use async_executor::{Executor, Task};

/// Runs a task on the thread that drives all connections. The task must not block: no connection moves meanwhile.
///
/// If the returned handle is dropped, the task is cancelled; [`Task::detach`] lets it go on.
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> Task<T> {
    static EXECUTOR: Executor<'_> = Executor::new();
    static THREAD: Once = Once::new();
    THREAD.call_once(|| {
        let run = || async_io::block_on(EXECUTOR.run(pending::<()>()));
        // If the thread cannot be started, no connection moves.
        let _ = thread::Builder::new().name("mcpwire-smol".into()).spawn(run);
    });
    EXECUTOR.spawn(task)
}
