//! `mcpwire tools`: what the server can be asked to do.

use mcpwire_blocking::protocol::{InvalidItem, Tool};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::session::Session;
use crate::show::{self, Layout};

pub(super) fn run(session: &mut Session<'_>) -> Result<u8, Failure> {
    session.open()?;
    session.request(|client| client.list_tools().map(drop))?;
    let listed = session.client.tools();
    let (tools, rejected): (&[Tool], _) = (&listed, listed.rejected());
    if session.options.json {
        output::json(&List { tools, rejected: rejected.iter().map(Reject::of).collect() })?;
    } else {
        output::page(|out| show::tools(out, tools, rejected, Layout::of_stdout()))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct List<'a> {
    tools: &'a [Tool],
    rejected: Vec<Reject<'a>>,
}

/// An entry of a list that could not be read.
#[derive(Serialize)]
pub(super) struct Reject<'a> {
    index: usize,
    name: Option<&'a str>,
    reason: &'a str,
}

impl<'a> Reject<'a> {
    pub(super) fn of(rejected: &'a InvalidItem) -> Self {
        Self { index: rejected.index, name: rejected.name.as_deref(), reason: &rejected.reason }
    }
}
