//! `mcpwire tools` and `mcpwire call` over all configured servers.

use std::path::Path;

use mcpwire_blocking::protocol::{CallToolResult, Tool};
use mcpwire_hub::config::folded;
use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::{McpService, McpStatus, ToolChange};
use serde::Serialize;
use serde_json::Value;

use super::advice::not_started;
use super::args::Configured;
use super::link::Link;
use super::requests::{Request, Row, find, lacks_tools};
use super::{link, of};
use crate::args::Options;
use crate::arguments;
use crate::failure::{Failure, TOOL_ERROR};
use crate::notes::Notes;
use crate::output;
use crate::save::Save;
use crate::show::{self, Layout};
use crate::text;

pub(super) fn list(configured: &Configured, options: &Options) -> Result<u8, Failure> {
    let mut link = link(&configured.place, options)?;
    bring_up(&link, configured.server.as_deref(), None, options)?;
    let tools: Vec<Tool> = link.ask(Request::Tools { server: configured.server.clone() }).map_err(of)?;
    if link.is_running() {
        note_absent(link.ask(Request::Status).map_err(of)?, configured.server.as_deref(), options);
    }
    link.close();
    if options.json {
        output::json(&List { tools: &tools, rejected: [] })?;
    } else {
        output::page(|out| show::tools(out, &tools, &[], Layout::of_stdout()))?;
    }
    Ok(0)
}

/// As `mcpwire tools` of one server prints it.
#[derive(Serialize)]
struct List<'a> {
    tools: &'a [Tool],
    rejected: [(); 0],
}

pub(super) fn run(
    tool: &str,
    arguments: Option<&str>,
    save: Option<&Path>,
    configured: &Configured,
    options: &Options,
) -> Result<u8, Failure> {
    let arguments = arguments::read(arguments)?;
    let arguments: Value = arguments
        .decode()
        .map_err(|error| Failure::usage("arguments", format!("the arguments are not JSON: {error}")))?;
    let mut link = link(&configured.place, options)?;
    bring_up(&link, configured.server.as_deref(), Some(tool), options)?;
    let notes = Notes::new(options.quiet || options.json);
    let timeout_ms = options.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    let request = Request::Call { tool: tool.to_owned(), server: configured.server.clone(), arguments, timeout_ms };
    let answered = link.call(request, tool, &notes, options.json);
    link.close();
    let raw = answered.map_err(|error| Failure::of_call(tool, &error))?;
    let result: CallToolResult = raw.decode().map_err(|error| Failure::usage("server", error.to_string()))?;
    let saved = save.map(|directory| Save::to(directory).blocks(&result.content)).transpose()?.unwrap_or_default();
    if options.json {
        output::raw(&raw)?;
        for saved in &saved {
            note(options, &show::saved_line(saved));
        }
    } else {
        output::page(|out| show::result(out, &result).and_then(|()| show::saved(out, &saved)))?;
    }
    if result.is_error {
        note(options, &format!("{}: the tool reported an error", text::line(tool)));
    }
    Ok(if result.is_error { TOOL_ERROR } else { 0 })
}

/// Starts what is needed, where no hub runs that has done so: one server, the one that the name of the tool is of, or all.
fn bring_up(link: &Link, server: Option<&str>, tool: Option<&str>, options: &Options) -> Result<(), Failure> {
    let Link::Own(own) = link else { return Ok(()) };
    let hub = &own.hub;
    let only = match server {
        Some(server) => Some(find(hub, server).map_err(of)?),
        None => tool.and_then(|tool| hub.get(hub.find_tool_server(tool)?)),
    };
    if let Some(config) = only {
        own.wait(hub.start(config.id)).map_err(|error| not_started(config.name.trim(), &error))?;
        note_changes(&hub.details(), options);
        return Ok(());
    }
    if hub.list().is_empty() {
        let failure = Failure::no_server();
        return Err(failure.with_hint("Or configure servers: mcpwire server add --help, mcpwire server import --help"));
    }
    own.wait(hub.boot()).map_err(of)?;
    for config in hub.list() {
        if let McpStatus::Error { message } = hub.status(config.id) {
            note(options, &format!("{}: {}", text::line(&config.name), text::line(&message)));
        }
    }
    note_changes(&hub.details(), options);
    Ok(())
}

/// Says which servers' tools are not listed because these do not run; of one server, only whether it is one of them.
fn note_absent(rows: Vec<Row>, server: Option<&str>, options: &Options) {
    let is_meant = |detail: &StatusDetail| {
        server.is_none_or(|server| folded(server) == folded(&detail.name) || server.parse() == Ok(detail.id))
    };
    for detail in rows.into_iter().map(|row| row.detail).filter(|detail| lacks_tools(detail) && is_meant(detail)) {
        if detail.enabled || server.is_some() {
            let why = detail.last_error.map(|error| format!(": {error}")).unwrap_or_default();
            let line = format!("{}: {}{why}; its tools are not listed", detail.name, detail.state);
            note(options, &text::line(&line));
        }
    }
}

/// Says which tools are not what they were when they were last listed.
pub(super) fn note_changes<'a>(details: impl IntoIterator<Item = &'a StatusDetail>, options: &Options) {
    for detail in details {
        for change in &detail.changed_tools {
            note(options, &changed(&detail.name, change));
        }
    }
}

/// It is all of a server's making but the words in between.
pub(super) fn changed(server: &str, change: &ToolChange) -> String {
    let change = text::line(&change.to_string());
    format!(
        "{}: a tool is described in another way than before: {change}; look at it again before you use it",
        text::line(server)
    )
}

pub(super) fn note(options: &Options, line: &str) {
    if !options.quiet {
        // Standard error may be closed; then there is nobody left to tell.
        let _ = std::io::Write::write_all(&mut anstream::stderr(), format!("{line}\n").as_bytes());
    }
}
