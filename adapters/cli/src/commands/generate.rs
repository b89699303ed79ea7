//! `mcpwire generate`: generates source code for the tools of a server.

use std::fs;
use std::path::Path;

use mcpwire_generate::{Changes, Module, changes};
use mcpwire_tokio::protocol::Tool;
use serde::Serialize;

use crate::args::Options;
use crate::console::output;
use crate::failure::{Failure, TOOL_ERROR};
use crate::input::read_file;
use crate::session::{ListedTools, Server};
use crate::text;

/// The JSON document that `mcpwire generate rust --json` prints.
#[derive(Serialize)]
struct Generated<'a> {
    source: &'a str,
    untyped: Vec<Untyped<'a>>,
}

#[derive(Serialize)]
struct Untyped<'a> {
    tool: &'a str,
    reason: &'a str,
}

/// The JSON document that `mcpwire generate rust --check FILE --json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    new: &'a [String],
    gone: &'a [String],
    changed: &'a [String],
}

/// Prints a Rust module for the tools of a server, or writes it to the file `out`, or compares the module in the file `check` with
/// the tools.
pub(super) fn rust(
    server: &mut dyn Server,
    out: Option<&Path>,
    check: Option<&Path>,
    options: &Options,
) -> Result<u8, Failure> {
    let ListedTools { tools, rejected } = server.list_own_tools()?;
    for invalid in &rejected {
        server.console().warn(&format!("left out: {}", text::line(&invalid.to_string())));
    }
    if let Some(file) = check {
        return compare(server, file, &tools, options);
    }
    let mut module = Module::new(tools);
    if let Some(name) = server.info()?.implementation.map(|implementation| implementation.name) {
        module = module.server(name);
    }
    let generated = module.generate();
    for untyped in &generated.untyped {
        server.console().note(&format!(
            "{}: plain JSON, because {}",
            text::name(&untyped.tool),
            text::line(&untyped.reason)
        ));
    }
    match out {
        Some(file) => write(file, &generated.source)?,
        None if options.json => {
            let untyped = generated.untyped.iter();
            let untyped = untyped.map(|untyped| Untyped { tool: &untyped.tool, reason: &untyped.reason }).collect();
            output::json(&Generated { source: &generated.source, untyped })?;
        }
        None => output::bytes(generated.source.as_bytes())?,
    }
    Ok(0)
}

/// Writes the source to a file. A file that has this content already keeps its time, so that nothing is compiled again.
fn write(file: &Path, source: &str) -> Result<(), Failure> {
    if fs::read(file).is_ok_and(|content| content == source.as_bytes()) {
        return Ok(());
    }
    let wrong =
        |error| Failure::usage("out", format!("could not write {}: {error}", text::line(&file.display().to_string())));
    fs::write(file, source).map_err(wrong)
}

/// Prints how the tools differ from those of the module in the file.
fn compare(server: &dyn Server, file: &Path, tools: &[Tool], options: &Options) -> Result<u8, Failure> {
    let path = text::line(&file.display().to_string());
    let wrong = |error| Failure::usage("check", format!("could not check {path}: {error}"));
    let changes: Changes = changes(&read_file("check", "the file of --check,", file)?, tools).map_err(wrong)?;
    let Changes { new, gone, changed, .. } = &changes;
    if options.json {
        output::json(&Checked { new, gone, changed })?;
    } else if !changes.is_empty() {
        output::bytes(format!("{changes}\n").as_bytes())?;
    }
    if changes.is_empty() {
        return Ok(0);
    }
    server
        .console()
        .note(&format!("the tools have changed since {path} was generated; to generate it again: --out {path}"));
    Ok(TOOL_ERROR)
}
