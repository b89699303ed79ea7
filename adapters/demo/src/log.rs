//! [`Log`]: writes lines for the user who runs the server.

use std::fmt;
use std::io::Write;

/// Writes lines for the user who runs the server. Each line begins with the name of the program.
pub struct Log {
    program: String,
    output: Box<dyn Write + Send>,
}

impl Log {
    /// Creates a log that writes to `output`, such as standard error.
    pub fn new(program: impl Into<String>, output: impl Write + Send + 'static) -> Self {
        Self { program: program.into(), output: Box::new(output) }
    }

    pub(crate) fn line(&mut self, line: &str) {
        // Errors are ignored: the server continues if standard error is closed.
        let _ = writeln!(self.output, "{}: {line}", self.program);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("program", &self.program).finish_non_exhaustive()
    }
}
