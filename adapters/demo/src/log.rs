//! [`Log`]: what the server reports to the person who runs it.

use std::fmt;
use std::io::Write;

/// Writes lines for the person who runs the server, each with the name of the program before it.
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
        // The server goes on without its log: a closed standard error is no reason to end.
        let _ = writeln!(self.output, "{}: {line}", self.program);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("program", &self.program).finish_non_exhaustive()
    }
}
