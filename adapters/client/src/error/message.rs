//! Formats the message of an [`Error`].

use std::fmt;

use mcpwire_core::{SendError, printable};

use super::{Cause, Error};

impl Error {
    /// Returns the message without the process report, for programs that show the output of the server's process themselves.
    pub fn message(&self) -> impl fmt::Display {
        Text { error: self, has_server: true, has_process: false }
    }

    /// Returns the text of the error without the name of the server, for programs that show the name themselves.
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
    /// Begins with the message, because a program whose `main` returns the error prints `{:?}`. Omits the cause, whose text is
    /// part of the message.
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

/// The text of an error, with or without the name of the server and the process report.
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
        self.error.process().filter(|_| self.has_process).map_or(Ok(()), |process| process.fmt(f))
    }
}
