//! Stops or kills the processes and the containers of servers.

use std::time::Duration;

use mcpwire_supervisor::Event;

use super::super::attempts::{AttemptKey, Remains};
use super::super::containers;
use super::Context;

/// Maximum time to wait until a killed server process has ended. The kernel ends a process within milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Stops the process and the container of a server gracefully in a background task, and reports to the supervisor when
/// they have ended.
pub(super) fn stop(context: &Context, key: AttemptKey) {
    let remains = context.attempts.stop(key);
    let in_task = context.clone();
    context.tasks().spawn(async move {
        if let Some(Remains { client, container, .. }) = remains {
            if let Some(client) = client {
                // Errors are ignored: the state machine needs to know only that the process has ended.
                let _ = client.shutdown().await;
            }
            if let Some(container) = container {
                containers::stop(container, in_task.tasks()).await;
            }
        }
        if !in_task.attempts.is_killed(key) {
            removed(&in_task, key).await;
        }
    });
}

/// Kills the process and the container of a server at once, and reports to the supervisor when they have ended.
///
/// The caller holds the lock of the hub's state. The process is killed on another thread, because that may block.
pub(super) fn kill(context: &Context, key: AttemptKey) {
    let remains = context.attempts.begin_kill(key);
    let in_task = context.clone();
    context.tasks().spawn(async move {
        if let Some(remains) = remains {
            let (client, container) = (remains.client.clone(), remains.container.clone());
            let _ = in_task.tasks().block(move || remains.kill_process()).await;
            if let Some(client) = client {
                let _ = in_task.tasks().within(KILL_TIMEOUT, client.shutdown()).await;
            }
            if let Some(container) = container {
                containers::remove(container, in_task.tasks()).await;
            }
        }
        removed(&in_task, key).await;
    });
}

/// Removes the attempt `key` to run a server, after the server process has ended, and reports the end to the
/// supervisor.
async fn removed(context: &Context, key: AttemptKey) {
    if let Some(record) = context.attempts.record(key) {
        let _ = context.tasks().block(move || record.remove()).await;
    }
    if let Some(attempt) = context.attempts.remove(key) {
        let _ = context.tasks().block(move || drop(attempt)).await;
    }
    context.state.event(key.0, key.1, Event::Removed);
}
