//! Stops and removes containers, which can outlive the program that started them.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::launch::Container;
use crate::tasks::Tasks;

/// Maximum time to wait for the container engine. It gives the container one second to stop.
const ENGINE_TIMEOUT: Duration = Duration::from_secs(5);

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
    let ended = tasks.block(move || run(&argv).map(|mut child| child.wait().is_ok()));
    let _ = tasks.within(ENGINE_TIMEOUT, ended).await;
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
