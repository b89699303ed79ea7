//! The terminal of Windows, which has no signals but Ctrl-C.

use std::io;

/// Does nothing: there is no such signal.
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(super) fn watch_quit(_: impl Fn() + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Reads a line from the terminal without showing what the user types.
pub(crate) fn read_secret() -> io::Result<Option<String>> {
    rpassword::read_password().map(Some)
}
