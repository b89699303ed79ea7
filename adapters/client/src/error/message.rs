//! Formats the message of an [`Error`]: the server, the reason, and the report of the server's process.

use std::fmt;

use mcpwire_core::{SendError, printable};

use super::{Cause, Error};

impl Error {
    /// Returns the message without the exit status and last output of the server's process, for programs that show these
    /// themselves.
    pub fn message(&self) -> impl fmt::Display {
        Text { error: self, has_server: true, has_process: false }
    }

    /// Returns the message without the name of the server, for programs that show the name themselves.
    pub fn without_server(&self) -> impl fmt::Display {
        Text { error: self, has_server: false, has_process: true }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text { error: self, has_server: true, has_process: true }.fmt(f)
    }
}

impl fmt::Debug for Error {
    /// Starts with the message, because a program whose `main` returns the error prints `{:?}`. Omits the cause, because the
    /// message contains its text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Error");
        fields
            .field("message", &format_args!("{}", self.message()))
            .field("kind", &format_args!("{}", self.kind().as_str()));
        fields.field("server", &self.server());
        if let Some(method) = self.method() {
            fields.field("method", &method);
        }
        if let Some(tool) = self.tool() {
            fields.field("tool", &tool);
        }
        if let Some(process) = self.process() {
            if let Some(exit) = process.exit() {
                fields.field("process", &format_args!("{exit}"));
            }
            fields.field("stderr_tail", &process.stderr_tail());
        }
        fields.finish_non_exhaustive()
    }
}

/// Formats an error with or without the name of the server and the report of the server's process.
struct Text<'a> {
    error: &'a Error,
    has_server: bool,
    has_process: bool,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.has_server {
            write!(f, "server `{}`: ", printable(self.error.server()))?;
        }
        match (self.error.cause(), &self.error.0.tool) {
            (Cause::Call(error), Some(tool)) => error.of_tool(tool).fmt(f),
            // The text of this error already contains the name of the tool.
            (cause @ Cause::Send(SendError::TaskRequired { .. }), _) => cause.fmt(f),
            (Cause::Send(error), Some(tool)) => {
                write!(f, "`tools/call` of `{}` was not sent: {error}", printable(tool))
            }
            (cause, _) => cause.fmt(f),
        }?;
        self.error.invalid_messages().map_or(Ok(()), |invalid| invalid.fmt(f))?;
        self.error.process().filter(|_| self.has_process).map_or(Ok(()), |process| process.fmt(f))
    }
}
