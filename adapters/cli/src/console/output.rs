//! Writes results to standard output, which contains nothing else.

use std::io::{self, BufWriter, Write};

use anstream::AutoStream;
use mcpwire_blocking::protocol::Json;
use serde::Serialize;

use crate::failure::Failure;
use crate::text;

/// Writes text for people. Removes colors if stdout is no terminal, or if the user wants none.
pub(crate) fn page(
    write: impl FnOnce(&mut AutoStream<io::StdoutLock<'static>>) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut out = AutoStream::auto(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}

/// Writes a line, and flushes it.
pub(crate) fn line(line: &str) -> io::Result<()> {
    let mut out = AutoStream::auto(io::stdout().lock());
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Writes a value as the JSON document of `--json`.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let json = Json::from_value(document).map_err(|error| Failure::output(&io::Error::other(error.to_string())))?;
    raw(&json)
}

/// Writes a JSON document unchanged, except that characters which could control a terminal are escaped.
pub(crate) fn raw(json: &Json) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = writeln!(out, "{}", text::json_for_terminals(json.get())).and_then(|()| out.flush());
    written.map_err(|error| Failure::output(&error))
}

/// Writes bytes unchanged.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| Failure::output(&error))
}
