//! `mcpwire task`: looking after a task that a call has become.

use mcpwire_blocking::protocol::{Task, TaskHandle, TaskProtocol};
use serde::Serialize;

use crate::args::TaskAction;
use crate::arguments;
use crate::failure::{Failure, TOOL_ERROR};
use crate::output;
use crate::session::Session;
use crate::show::{self, Layout};
use crate::text;

/// The task that is meant: by its id, or by the handle that `call --task --detach` has printed.
pub(super) fn handle(meant: &str) -> Result<TaskHandle, Failure> {
    if !meant.starts_with(['{', '@']) && meant != "-" {
        return Ok(TaskHandle::new(meant, TaskProtocol::Extension));
    }
    let stored = arguments::read(Some(meant))?;
    stored.decode().map_err(|error| Failure::usage("TASK", format!("this is no handle of a task: {error}")))
}

pub(super) fn run(session: &mut Session<'_>, action: TaskAction, handle: &TaskHandle) -> Result<u8, Failure> {
    session.open()?;
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
                output::json(&Asked { task_id: &handle.task_id })?;
            } else if !session.options.quiet {
                session.notes.line(&format!("{}: the server was asked to end it", text::line(&handle.task_id)));
            }
            Ok(0)
        }
    }
}

/// Says that a server was asked to end a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    task_id: &'a str,
}

/// What is told of a task on standard error.
pub(crate) fn line(task: &Task) -> String {
    let mut line = format!("task {}: {}", text::line(&task.task_id), text::line(task.status.as_str()));
    if let Some(message) = task.status_message.as_deref().filter(|message| !message.is_empty()) {
        line.push_str(", ");
        line.push_str(&text::line(message));
    }
    line
}
