//! Reads the input of commands: files and standard input.
//!
//! A file may be a named pipe, because shells pass the output of a command this way: `@<(command)`. Reading a pipe may wait
//! forever, so Ctrl-C ends the wait. Devices and directories are refused.

use std::io;
use std::path::Path;

use mcpwire_hub::files::{read_file_or_pipe, read_to_end};

use crate::console::Interrupt;
use crate::failure::Failure;
use crate::text;

/// Maximum size of an input, in bytes: 64 MiB, the default of `--max-message`.
const MAX_BYTES: u64 = 64 << 20;

/// Reads the text of a regular file or of a pipe. `field` is the option or argument that names the file, for error messages. `what`
/// stands before the path there.
pub(crate) fn read_file(field: &str, what: &str, path: &Path) -> Result<String, Failure> {
    let owned = path.to_owned();
    let source = text::line(&format!("{what} {}", path.display()));
    read(field, &source, move || read_file_or_pipe(&owned, MAX_BYTES))
}

/// Reads the text of standard input to its end. `field` is the option or argument that needs the text, for error messages.
pub(crate) fn read_stdin(field: &str) -> Result<String, Failure> {
    read(field, "standard input", || {
        let mut bytes = Vec::new();
        read_to_end(io::stdin().lock(), &mut bytes, MAX_BYTES).map(|()| bytes)
    })
}

/// Calls `read` on another thread, and decodes the bytes as UTF-8. Ctrl-C ends the wait. Errors name `field` and `source`.
fn read(
    field: &str,
    source: &str,
    read: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static,
) -> Result<String, Failure> {
    let bytes = Interrupt::install().read(read).ok_or_else(Failure::interrupted)?;
    let text = bytes.and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
    });
    text.map_err(|error| Failure::usage(field, format!("could not read {source}: {error}")))
}
