//! Reports that several commands print: failures, saved files, and entries of lists that could not be read.

use std::io::Write as _;

use mcpwire_tokio::protocol::InvalidItem;
use serde::Serialize;

use crate::args::Options;
use crate::console::{Console, output};
use crate::failure::Failure;
use crate::save::Saves;
use crate::show;

/// Writes a failure to standard error, and returns the exit status of the failure.
pub(super) fn report(failure: &Failure, options: &Options) -> u8 {
    failure.report(options.json);
    failure.exit()
}

/// Prints which files `--save` has written: on standard output below the result, or with `--json` on standard error, because
/// standard output is then one JSON document.
///
/// # Errors
/// Returns the first failure to save a file. The other failures are printed here, unless `--json` is given.
pub(super) fn tell_saved(saves: Saves, console: &Console, options: &Options) -> Result<(), Failure> {
    if options.json {
        saves.saved.iter().for_each(|saved| console.warn(&show::saved_line(saved)));
    } else {
        output::page(|out| saves.saved.iter().try_for_each(|saved| writeln!(out, "{}", show::saved_line(saved))))?;
    }
    first_of(saves.failures, options)
}

/// Returns the first of the failures as an error, if there are any. Prints the other failures, unless `--json` is given: standard
/// error then contains only one error object.
pub(super) fn first_of(failures: Vec<Failure>, options: &Options) -> Result<(), Failure> {
    let mut failures = failures.into_iter();
    let first = failures.next();
    failures.filter(|_| !options.json).for_each(|failure| failure.report(false));
    first.map_or(Ok(()), Err)
}

/// An entry of a list that could not be read, as `--json` prints it.
#[derive(Serialize)]
pub(super) struct Rejected<'a> {
    index: usize,
    name: Option<&'a str>,
    reason: &'a str,
}

impl<'a> Rejected<'a> {
    pub(super) fn all(rejected: &'a [InvalidItem]) -> Vec<Self> {
        let entry =
            |item: &'a InvalidItem| Self { index: item.index, name: item.name.as_deref(), reason: &item.reason };
        rejected.iter().map(entry).collect()
    }
}
