//! [`Trace`]: writes the trace file (`--trace FILE`), with one JSON object per message.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use mcpwire_hub::files::create_output;
use mcpwire_hub::redact::Redactor;
use serde::Serialize;
use serde_json::value::RawValue;

/// Writes messages to the trace file (`--trace FILE`). Writes are not buffered, because users read the file while a server
/// hangs.
pub(super) struct Trace {
    out: Option<File>,
    redactor: Redactor,
}

#[derive(Serialize)]
struct Entry<'a> {
    time: String,
    direction: &'static str,
    message: Message<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Message<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

impl Trace {
    /// Creates the trace file with mode 0600, so that only the user can read it. An existing file is emptied, and gets
    /// the same mode. Files of other users and symbolic links to files are refused.
    pub(super) fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        Ok(Self { out: Some(create_output(path)?), redactor })
    }

    /// Writes a message to the trace file, without secrets. A message that is not JSON is written as text.
    ///
    /// After a write error, the trace ends, but the command continues.
    pub(super) fn record(&mut self, direction: &'static str, message: &[u8]) {
        if let Some(out) = &mut self.out
            && write(out, direction, message, &self.redactor).is_err()
        {
            self.out = None;
        }
    }
}

fn write(out: &mut impl Write, direction: &'static str, message: &[u8], redactor: &Redactor) -> io::Result<()> {
    let text = redactor.redact(&String::from_utf8_lossy(message));
    let text = text.trim_ascii();
    let message = serde_json::from_str(text).map_or(Message::Text(text), Message::Json);
    let entry = Entry { time: format!("{:.6}", Timestamp::now()), direction, message };
    let mut line = serde_json::to_string(&entry)?;
    // A server may send line breaks between tokens, but each entry must be one line.
    line.retain(|c| c != '\n' && c != '\r');
    line.push('\n');
    out.write_all(line.as_bytes())
}
