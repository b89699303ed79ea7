//! The reactor of async-io, and the background thread that runs the tasks of all connections.

use std::future::{Future, pending};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use async_executor::{Executor, Task};
use async_io::Timer;
use mcpwire_driver::process::check_descriptors;

/// Number of file descriptors that must be free to start the reactor.
///
/// The reactor opens up to four: a poller, a timer, and the two ends of a pipe that wakes the poller. One is spare.
const REACTOR_DESCRIPTORS: usize = 5;

static EXECUTOR: Executor<'_> = Executor::new();

/// Spawns a task on the background thread. The task must not block, because the thread drives all connections.
///
/// Dropping the returned handle cancels the task; [`Task::detach`] lets it continue. If the thread cannot be started, the task
/// does not run before a later [`start`] succeeds.
pub fn spawn<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> Task<T> {
    // The error is ignored here: callers that need the error call `start` before.
    let _ = start();
    EXECUTOR.spawn(task)
}

/// Starts the background thread that runs the tasks of all connections, unless the thread is already running.
///
/// # Errors
/// If the system has no file descriptor or thread left. A later call tries again.
pub fn start() -> io::Result<()> {
    static IS_STARTED: Mutex<bool> = Mutex::new(false);
    once(&IS_STARTED, || {
        start_reactor()?;
        // A panic of one task must not end the tasks of other connections.
        let run = || while catch_unwind(AssertUnwindSafe(run_tasks)).is_err() {};
        thread::Builder::new().name("mcpwire-smol".into()).spawn(run).map(drop)
    })
}

fn run_tasks() {
    async_io::block_on(EXECUTOR.run(pending::<()>()));
}

/// Starts the reactor of async-io, unless it is already running. The clients of this crate call this.
///
/// Without this call, the first use of async-io starts the reactor, and panics if no file descriptor is left.
///
/// # Errors
/// If the system has no file descriptor or thread left. A later call tries again.
pub fn start_reactor() -> io::Result<()> {
    static IS_STARTED: Mutex<bool> = Mutex::new(false);
    once(&IS_STARTED, || {
        check_descriptors(REACTOR_DESCRIPTORS)?;
        // Other threads may have used the last descriptors since the check. async-io panics then, so the panic is caught.
        let started = catch_unwind(|| async_io::block_on(Timer::after(Duration::ZERO)));
        started.map(drop).map_err(|_| io::Error::other("async-io could not be started"))
    })
}

/// Calls `start`, unless an earlier call has succeeded. `is_started` records the success.
fn once(is_started: &Mutex<bool>, start: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut is_started = is_started.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_started {
        start()?;
        *is_started = true;
    }
    Ok(())
}
