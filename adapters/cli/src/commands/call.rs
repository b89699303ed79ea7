//! `mcpwire call`: calls a tool.

use std::path::Path;

use mcpwire_blocking::protocol::{CallToolResult, Json};

use super::report::tell_saved;
use crate::args::Options;
use crate::console::output;
use crate::failure::{Failure, TOOL_ERROR};
use crate::save;
use crate::session::{CallMode, Called, Session};
use crate::show;
use crate::text;

pub(super) fn run(
    session: &mut Session<'_>,
    tool: &str,
    arguments: &Json,
    mode: CallMode,
    directory: Option<&Path>,
    options: &Options,
) -> Result<u8, Failure> {
    let raw = match session.call(tool, arguments, mode)? {
        Called::Task(handle) => return output::json(&handle).map(|()| 0),
        Called::Result(raw) => raw,
    };
    let result: CallToolResult = raw
        .decode()
        .map_err(|error| Failure::unreadable(&format!("the result of `{}`", text::line(tool)), &error.to_string()))?;
    // The tool has run, so its result is shown even if saving files fails.
    if options.json {
        output::raw(&raw)?;
    } else {
        output::page(|out| show::result(out, &result))?;
    }
    let saved = tell_saved(save::blocks(directory, &result.content), session.console(), options);
    if result.is_error {
        session.console().note(&format!("{}: the tool reported an error", text::line(tool)));
    }
    saved?;
    Ok(if result.is_error { TOOL_ERROR } else { 0 })
}
