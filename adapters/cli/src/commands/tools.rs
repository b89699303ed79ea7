//! `mcpwire tools`, `mcpwire call` and `mcpwire task`: lists tools, calls a tool, and inspects or cancels the task of a call.

use std::path::Path;

use mcpwire_tokio::protocol::{CallToolResult, TaskHandle, TaskProtocol};
use serde::Serialize;

use crate::args::{Options, TaskAction};
use crate::console::{Console, output};
use crate::failure::{Failure, TOOL_ERROR};
use crate::input::read_arguments;
use crate::save;
use crate::session::{Called, Direct, ListedTools};
use crate::show::{self, Layout};
use crate::text;

pub(super) fn list(listed: &ListedTools, options: &Options) -> Result<u8, Failure> {
    output::show(options, listed, |out| show::tools(out, &listed.tools, &listed.rejected, Layout::of_stdout()))?;
    Ok(0)
}

/// Prints the result of a tool call, and saves its binary content in `directory`, if it is given. Prints the handle of a task that
/// runs the call instead.
pub(super) fn show_call(
    tool: &str,
    called: Called,
    directory: Option<&Path>,
    console: &Console,
    options: &Options,
) -> Result<u8, Failure> {
    let raw = match called {
        Called::Task(handle) => return output::json(&handle).map(|()| 0),
        Called::Result(raw) => raw,
    };
    let result: CallToolResult = raw
        .decode()
        .map_err(|error| Failure::unreadable(&format!("the result of `{}`", text::line(tool)), &error.to_string()))?;
    // The tool has run, so its result is shown even if saving files fails.
    output::show(options, &raw, |out| show::result(out, &result))?;
    let saved = output::tell_saved(save::blocks(directory, &result.content), console, options);
    if result.is_error {
        console.note(&format!("{}: the tool reported an error", text::line(tool)));
    }
    saved?;
    Ok(if result.is_error { TOOL_ERROR } else { 0 })
}

/// Returns the handle of a task. `meant` is the id of the task, or the JSON that `mcpwire call --task --detach` printed, or
/// `@FILE` or `-` to read that JSON.
pub(super) fn task_handle(meant: &str) -> Result<TaskHandle, Failure> {
    if !meant.starts_with(['{', '@']) && meant != "-" {
        return Ok(TaskHandle::new(meant, TaskProtocol::Extension));
    }
    let stored = read_arguments(Some(meant))?;
    stored.decode().map_err(|error| Failure::usage("TASK", format!("TASK is not the handle of a task: {error}; give the id of the task, or the JSON that `mcpwire call --task --detach` printed")))
}

/// Shows the status of a task, waits for its result, or cancels the task.
pub(super) fn task(session: &Direct<'_>, action: TaskAction, handle: &TaskHandle) -> Result<u8, Failure> {
    let mut task = session.client.task(handle.clone());
    match action {
        TaskAction::Get => {
            let task = session.request(task.status())?;
            output::show(session.options, &task, |out| show::task(out, &task, Layout::of_stdout()))?;
            Ok(0)
        }
        TaskAction::Result => {
            session.console.start(&format!("waiting for {}", handle.task_id));
            let result = session.request(task.wait_with(session.on_status()))?;
            output::show(session.options, &result, |out| show::result(out, &result))?;
            Ok(if result.is_error { TOOL_ERROR } else { 0 })
        }
        TaskAction::Cancel => {
            session.request(task.cancel())?;
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
