//! [`Terminal`] and [`Prompt`]: questions to the user at the terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::interrupt::Interrupt;

/// A terminal for a dialogue with the user. Tests implement this trait with scripted input.
pub(crate) trait Terminal {
    /// Shows a text to the user. The caller has removed control characters from `text`, which may contain colors.
    fn show(&mut self, text: &str);

    /// Waits for the next line that the user types.
    fn read(&mut self) -> Typed;
}

/// The input of the user at the terminal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C, or the end of the input.
    End,
}

/// The terminal of this process, to ask the user questions: writes to standard error, and reads standard input.
pub(crate) struct Prompt {
    interrupt: Interrupt,
}

/// Interval at which a prompt that waits for input checks for an interrupt such as Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

impl Prompt {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { interrupt }
    }

    /// Asks the user a question, and returns whether the answer is yes. Ctrl-C and the end of the input mean no.
    pub(crate) fn agrees(&mut self, question: &str) -> bool {
        self.show(&format!("{question} [y/N] "));
        matches!(self.read(), Typed::Line(line) if matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks the user a question to which Enter alone means yes. Ctrl-C and the end of the input mean no.
    pub(crate) fn agrees_by_default(&mut self, question: &str) -> bool {
        self.show(&format!("{question} [Y/n] "));
        matches!(self.read(), Typed::Line(line) if matches!(line.trim().to_lowercase().as_str(), "" | "y" | "yes"))
    }
}

impl Terminal for Prompt {
    fn show(&mut self, text: &str) {
        let mut stderr = anstream::stderr();
        // Errors are ignored: standard error may be closed.
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Reads a line on another thread, because a blocking read of standard input cannot be interrupted. After an interrupt,
    /// that thread stays until this process ends.
    fn read(&mut self) -> Typed {
        let (typed, line) = mpsc::channel();
        let read = move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            // The receiver was dropped if there was an interrupt.
            let _ = typed.send(read.ok().filter(|length| *length > 0).map(|_| line));
        };
        // Without a thread, the input counts as ended.
        let _ = thread::Builder::new().spawn(read);
        loop {
            match line.recv_timeout(GLANCE) {
                Ok(Some(line)) => return Typed::Line(line.trim_end_matches(['\r', '\n']).to_owned()),
                Err(RecvTimeoutError::Timeout) if !self.interrupt.was_pressed() => {}
                Ok(None) | Err(_) => {
                    self.show("\n");
                    return Typed::End;
                }
            }
        }
    }
}

/// Returns whether standard input and standard error are terminals, so that the user can answer questions.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
