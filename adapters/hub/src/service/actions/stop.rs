//! Stops and kills servers, with their containers.

use std::time::Duration;

use mcpwire_supervisor::Event;

use super::super::attempts::{AttemptKey, Remains};
use super::super::containers;
use super::Context;

/// Maximum time to wait for a killed server. The kernel ends a process in milliseconds.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Stops a server gracefully.
pub(super) fn stop(context: &Context, key: AttemptKey) {
    let remains = context.attempts.stop(key);
    let in_task = context.clone();
    context.tasks().spawn(async move {
        if let Some(Remains { client, container }) = remains {
            if let Some(client) = client {
                // The state machine needs to know only that the process is gone.
                let _ = client.shutdown().await;
            }
            if let Some(container) = container {
                containers::stop(container, in_task.tasks()).await;
            }
        }
        removed(&in_task, key).await;
    });
}

/// Kills a server.
pub(super) fn kill(context: &Context, key: AttemptKey) {
    let remains = context.attempts.kill(key);
    let in_task = context.clone();
    context.tasks().spawn(async move {
        if let Some(Remains { client, container }) = remains {
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

/// Removes the attempt, whose process has ended.
async fn removed(context: &Context, key: AttemptKey) {
    if let Some(record) = context.attempts.record(key) {
        let _ = context.tasks().block(move || record.remove()).await;
    }
    context.attempts.remove(key);
    context.state.event(key.0, key.1, Event::Removed);
}
