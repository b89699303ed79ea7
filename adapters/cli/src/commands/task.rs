//! `mcpwire task`: inspects or cancels a task started by a call.

use mcpwire_blocking::protocol::{TaskHandle, TaskProtocol};
use serde::Serialize;

use crate::args::TaskAction;
use crate::console::output;
use crate::failure::{Failure, TOOL_ERROR};
use crate::input::read_arguments;
use crate::session::Direct;
use crate::show::{self, Layout};
use crate::text;

/// Returns the handle of a task. `meant` is the id of the task, or the JSON that `mcpwire call --task --detach` printed, or
/// `@FILE` or `-` to read that JSON.
pub(super) fn handle(meant: &str) -> Result<TaskHandle, Failure> {
    if !meant.starts_with(['{', '@']) && meant != "-" {
        return Ok(TaskHandle::new(meant, TaskProtocol::Extension));
    }
    let stored = read_arguments(Some(meant))?;
    stored.decode().map_err(|error| Failure::usage("TASK", format!("TASK is not the handle of a task: {error}; give the id of the task, or the JSON that `mcpwire call --task --detach` printed")))
}

pub(super) fn run(session: &mut Direct<'_>, action: TaskAction, handle: &TaskHandle) -> Result<u8, Failure> {
    match action {
        TaskAction::Get => {
            let task = session.request(|client| client.task(handle.clone()).status())?;
            if session.options.json {
                output::json(&task)?;
            } else {
                output::page(|out| show::task(out, &task, Layout::of_stdout()))?;
            }
            Ok(0)
        }
        TaskAction::Result => {
            let on_status = session.watch_task(&format!("waiting for {}", handle.task_id));
            let result = session.request(|client| client.task(handle.clone()).wait_with(on_status))?;
            if session.options.json {
                output::json(&result)?;
            } else {
                output::page(|out| show::result(out, &result))?;
            }
            Ok(if result.is_error { TOOL_ERROR } else { 0 })
        }
        TaskAction::Cancel => {
            session.request(|client| client.task(handle.clone()).cancel())?;
            if session.options.json {
                output::json(&Cancelled { task_id: &handle.task_id })?;
            } else {
                let id = text::line(&handle.task_id);
                session.console.note(&format!("{id}: the server was asked to cancel the task"));
            }
            Ok(0)
        }
    }
}

/// The JSON document that `mcpwire task cancel --json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    task_id: &'a str,
}
