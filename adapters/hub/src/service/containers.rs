//! Stops and removes containers, which can outlive the program that started them.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::launch::Container;
use crate::tasks::Tasks;

/// Maximum time to wait for the container engine. It gives the container one second to stop.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often to check whether the client of the engine has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Stops a container, and removes it. A container that does not exist is no error.
pub(super) async fn stop(container: Container, tasks: &Tasks) {
    for argv in [container.stop_command(), container.remove_command()] {
        wait_for(argv, tasks).await;
    }
}

/// Kills and removes a container.
pub(super) async fn remove(container: Container, tasks: &Tasks) {
    wait_for(container.remove_command(), tasks).await;
}

async fn wait_for(argv: Vec<String>, tasks: &Tasks) {
    // A runtime that is dropped waits for its threads, so the thread must end too if the engine does not respond.
    let _ = tasks.block(move || run_within(&argv, ENGINE_TIMEOUT)).await;
}

/// Runs a command, and kills it if it takes too long.
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

/// Kills and removes a container on a thread, without a runtime.
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
