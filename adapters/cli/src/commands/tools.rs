//! `mcpwire tools`: lists the tools of one server, or of all configured servers.

use mcpwire_blocking::protocol::Tool;
use serde::Serialize;

use super::report::Rejected;
use crate::args::Options;
use crate::console::output;
use crate::failure::Failure;
use crate::session::{ListedTools, Session};
use crate::show::{self, Layout};

pub(super) fn run(session: &mut Session<'_>, options: &Options) -> Result<u8, Failure> {
    let ListedTools { tools, rejected } = session.list_tools()?;
    if options.json {
        output::json(&List { tools: &tools, rejected: Rejected::all(&rejected) })?;
    } else {
        output::page(|out| show::tools(out, &tools, &rejected, Layout::of_stdout()))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct List<'a> {
    tools: &'a [Tool],
    rejected: Vec<Rejected<'a>>,
}
