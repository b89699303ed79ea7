//! Stops and removes the containers of servers, because a container can outlive the command that started it.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::launch::Container;
use crate::tasks::Tasks;

/// Maximum duration of a command of the container engine, such as `docker stop`: 5 s. The engine kills a container that does not
/// stop within one second, so a working engine needs less time.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(5);

/// Interval at which to check whether a command of the container engine has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Stops and removes a container, and waits for at most 5 s for each of the two commands. If the container does not exist, this
/// is no error.
pub(super) async fn stop(container: Container, tasks: &Tasks) {
    for argv in [container.stop_command(), container.remove_command()] {
        wait_for(argv, tasks).await;
    }
}

/// Kills and removes a container, and waits until the container engine has done so, but at most 5 s. Errors are ignored.
pub(super) async fn remove(container: Container, tasks: &Tasks) {
    wait_for(container.remove_command(), tasks).await;
}

async fn wait_for(argv: Vec<String>, tasks: &Tasks) {
    // When a runtime is dropped, it waits for its blocking threads. This thread must therefore end even if the container engine
    // does not respond.
    let _ = tasks.block(move || run_within(&argv, ENGINE_TIMEOUT)).await;
}

/// Runs a command and waits until it exits. Kills the command if it runs longer than `timeout`.
fn run_within(argv: &[String], timeout: Duration) {
    let Some(mut child) = run(argv) else { return };
    let deadline = Instant::now() + timeout;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Kills and removes a container in the background. Unlike [`remove`], this function does not wait for the container engine, and
/// needs no async runtime.
pub(super) fn remove_detached(container: &Container) {
    if let Some(mut child) = run(&container.remove_command()) {
        let thread = thread::Builder::new().name("mcpwire-rm".into()).stack_size(64 * 1024);
        let _ = thread.spawn(move || child.wait());
    }
}

fn run(argv: &[String]) -> Option<std::process::Child> {
    let mut words = argv.iter();
    let mut command = Command::new(words.next()?);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_an_engine_that_does_not_respond_is_killed() {
        let argv = ["sleep", "1000"].map(str::to_owned);
        let started = Instant::now();
        run_within(&argv, Duration::ZERO);
        assert!(started.elapsed() < Duration::from_secs(500), "it was not waited for");
    }
}
