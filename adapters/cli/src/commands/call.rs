//! `mcpwire call`: one call of one tool.

use std::path::Path;

use mcpwire_blocking::protocol::{CallToolResult, Json, Tool};

use super::tell_saved;
use crate::failure::{Failure, INTERRUPTED, TOOL_ERROR};
use crate::output;
use crate::save::Save;
use crate::session::Session;
use crate::show::{self, Layout};
use crate::text;

/// A name this much like that of a tool is taken for a slip of the fingers.
const LIKE: f64 = 0.8;
/// More names of tools than these are left to `mcpwire tools`.
const MOST_NAMES: usize = 20;

/// What is to become of the call beside its result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct How<'a> {
    /// The server may make a task of it.
    pub(super) task: bool,
    /// The task is not waited for.
    pub(super) detach: bool,
    /// Where what is no text is saved.
    pub(super) save: Option<&'a Path>,
}

pub(super) fn run(session: &mut Session<'_>, tool: &str, arguments: &Json, how: How<'_>) -> Result<u8, Failure> {
    session.open()?;
    let mut saved = Vec::new();
    let mut keep = |result: &CallToolResult| {
        how.save.map_or(Ok(()), |directory| Save::to(directory).blocks(&result.content).map(|files| saved = files))
    };
    if how.detach {
        return detached(session, tool, arguments, &mut keep);
    }
    let is_error = if session.options.json {
        let raw = session.call_raw(tool, arguments, how.task).map_err(|failure| explained(session, tool, failure))?;
        let is_error = match raw.decode::<CallToolResult>() {
            Ok(result) => {
                keep(&result)?;
                reported_error(session, tool, &result)?
            }
            Err(_) => false,
        };
        output::raw(&raw)?;
        is_error
    } else {
        let result = session.call(tool, arguments, how.task).map_err(|failure| explained(session, tool, failure))?;
        shown(session, tool, &result, &mut keep)?
    };
    tell_saved(session, &saved)?;
    Ok(if is_error { TOOL_ERROR } else { 0 })
}

/// Saves what is no text of a result, if that is wanted.
type Keep<'a> = &'a mut dyn FnMut(&CallToolResult) -> Result<(), Failure>;

/// Prints what is to be kept of the task, or the result if the server had that at once.
fn detached(session: &mut Session<'_>, tool: &str, arguments: &Json, keep: Keep<'_>) -> Result<u8, Failure> {
    let started = session.begin_task(tool, arguments).map_err(|failure| explained(session, tool, failure))?;
    let result = match started {
        Ok(handle) => return output::json(&handle).map(|()| 0),
        Err(result) => result,
    };
    let is_error = if session.options.json {
        keep(&result)?;
        let is_error = reported_error(session, tool, &result)?;
        output::json(&result)?;
        is_error
    } else {
        shown(session, tool, &result, keep)?
    };
    Ok(if is_error { TOOL_ERROR } else { 0 })
}

/// Prints a result for people. Whether it is an error of the tool's.
fn shown(session: &mut Session<'_>, tool: &str, result: &CallToolResult, keep: Keep<'_>) -> Result<bool, Failure> {
    let is_error = reported_error(session, tool, result)?;
    keep(result)?;
    output::page(|out| show::result(out, result))?;
    if is_error && !session.options.quiet {
        session.notes.line(&format!("{}: the tool reported an error", text::line(tool)));
    }
    Ok(is_error)
}

/// Whether the tool reported an error. Some servers answer so for a tool that they do not have: that is a failure.
fn reported_error(session: &mut Session<'_>, tool: &str, result: &CallToolResult) -> Result<bool, Failure> {
    if !result.is_error {
        return Ok(false);
    }
    match session.request(|client| client.list_tools().map(drop)) {
        Ok(()) if !session.client.has_tool(tool) => {
            let failure = Failure::tool_not_found(tool, result.text().as_str());
            Err(explained(session, tool, failure))
        }
        Err(failure) if failure.exit() == INTERRUPTED => Err(failure),
        _ => Ok(true),
    }
}

/// A failure with what to try instead: another tool, or other arguments. The tools are listed where that tells, and have not
/// been by now.
fn explained(session: &mut Session<'_>, tool: &str, failure: Failure) -> Failure {
    let is_told_by_list = failure.is_of_arguments() || failure.is_tool_not_found();
    if is_told_by_list && session.client.tools().is_empty() {
        // Without the list there is no hint.
        let _ = session.request(|client| client.list_tools().map(drop));
    }
    match session.client.get_tool(tool) {
        Some(tool) if failure.is_of_arguments() => failure.with_hint(page(&tool)),
        None if failure.is_tool_not_found() => failure.with_hint(suggestion(tool, &session.client.tools())),
        _ => failure,
    }
}

fn page(tool: &Tool) -> String {
    let mut page = Vec::new();
    // Memory takes all that is written to it.
    let _ = show::tool(&mut page, tool, Layout::default());
    String::from_utf8_lossy(&page).trim_end().to_owned()
}

fn suggestion(name: &str, tools: &[Tool]) -> String {
    let likeness = |tool: &Tool| strsim::jaro_winkler(&name.to_lowercase(), &tool.name.to_lowercase());
    let nearest = tools.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    if let Some(tool) = nearest.filter(|tool| likeness(tool) >= LIKE) {
        return format!("Did you mean {}?", text::line(&tool.name));
    }
    let names: Vec<String> = tools.iter().take(MOST_NAMES).map(|tool| text::line(&tool.name)).collect();
    let more = if tools.len() > MOST_NAMES { ", ..." } else { "" };
    if names.is_empty() {
        "The server has no tools.".to_owned()
    } else {
        format!("Its tools are: {}{more}", names.join(", "))
    }
}
