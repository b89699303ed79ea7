//! Standard output: the result, and nothing else.

use std::io::{self, BufWriter, Write};

use anstream::AutoStream;
use mcpwire_blocking::protocol::Json;
use serde::Serialize;

use crate::failure::Failure;
use crate::text;

/// Writes for people: in colour where that is wanted.
pub(crate) fn page(
    write: impl FnOnce(&mut AutoStream<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = AutoStream::auto(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a line at once.
pub(crate) fn line(line: &str) -> io::Result<()> {
    let mut out = AutoStream::auto(io::stdout().lock());
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Writes the one JSON document of `--json`.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let json = Json::from_value(document).map_err(|error| Failure::output(&io::Error::other(error.to_string())))?;
    raw(&json)
}

/// Writes a JSON document as it is.
pub(crate) fn raw(json: &Json) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = writeln!(out, "{}", text::json_for_terminals(json.get())).and_then(|()| out.flush());
    written.map_err(|error| Failure::output(&error))
}
