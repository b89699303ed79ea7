//! Writes the results of commands to standard output, and says which files were saved. Notes, progress and errors go to standard error.

use std::io::{self, BufWriter, Write};

use anstream::AutoStream;
use mcpwire_tokio::protocol::Json;
use serde::Serialize;

use super::Console;
use crate::args::Options;
use crate::failure::Failure;
use crate::save::Saves;
use crate::{show, text};

/// Writes a result to standard output: with `--json` as one JSON document, or else as text for users.
pub(crate) fn show(
    options: &Options,
    document: &impl Serialize,
    write: impl FnOnce(&mut AutoStream<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    if options.json { json(document) } else { page(write) }
}

/// Writes text for users to standard output. Removes colors if standard output is not a terminal, or if the user wants no
/// colors.
pub(crate) fn page(
    write: impl FnOnce(&mut AutoStream<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = AutoStream::auto(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a line to standard output, and flushes it so that readers see the line at once.
pub(crate) fn line(line: &str) -> io::Result<()> {
    let mut out = AutoStream::auto(io::stdout().lock());
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Writes a value to standard output as one JSON document, for `--json`. [`Json`] is written unchanged, except that characters
/// which could control a terminal are escaped.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let json = Json::from_value(document).map_err(|error| Failure::output(&io::Error::other(error.to_string())))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let written = writeln!(out, "{}", text::json_for_terminals(json.get())).and_then(|()| out.flush());
    written.map_err(|error| Failure::output(&error))
}

/// Writes bytes unchanged to standard output.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// Prints which files `--save` has written: on standard output below the result, or with `--json` on standard error, because
/// standard output is then one JSON document.
///
/// # Errors
/// Returns the first failure to save a file. The other failures are printed here, unless `--json` is given.
pub(crate) fn tell_saved(saves: Saves, console: &Console, options: &Options) -> Result<(), Failure> {
    if options.json {
        saves.saved.iter().for_each(|saved| console.warn(&show::saved_line(saved)));
    } else {
        page(|out| saves.saved.iter().try_for_each(|saved| writeln!(out, "{}", show::saved_line(saved))))?;
    }
    first_of(saves.failures, options)
}

/// Returns the first of the failures as an error, if there are any. Prints the other failures, unless `--json` is given: standard
/// error then contains only one error object.
pub(crate) fn first_of(failures: Vec<Failure>, options: &Options) -> Result<(), Failure> {
    let mut failures = failures.into_iter();
    let first = failures.next();
    for failure in failures.filter(|_| !options.json) {
        failure.report(false);
    }
    first.map_or(Ok(()), Err)
}
