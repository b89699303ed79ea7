//! [`Terminal`]: questions to the person at the terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::interrupt::Interrupt;

/// Where a dialogue is held.
pub(crate) trait Terminal {
    /// Shows a text, which must be safe to show, and may contain colors.
    fn show(&mut self, text: &str);

    /// Waits for what the person types next.
    fn read(&mut self) -> Typed;
}

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C, or the end of the input.
    End,
}

/// The terminal of this process: shows texts on standard error, and reads standard input.
pub(crate) struct Prompt {
    interrupt: Interrupt,
}

/// How often an interrupt is looked for.
const GLANCE: Duration = Duration::from_millis(50);

impl Prompt {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { interrupt }
    }

    /// Asks a question, and returns whether the answer is yes. Ctrl-C and the end of the input mean no.
    pub(crate) fn agrees(&mut self, question: &str) -> bool {
        self.show(&format!("{question} [y/N] "));
        matches!(self.read(), Typed::Line(line) if matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
    }
}

impl Terminal for Prompt {
    fn show(&mut self, text: &str) {
        let mut stderr = anstream::stderr();
        // Stderr may be closed.
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Reads on another thread, because a read cannot be interrupted. After an interrupt that thread is left behind, and ends with
    /// the process.
    fn read(&mut self) -> Typed {
        let (typed, line) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            // The receiver is gone after an interrupt.
            let _ = typed.send(read.ok().filter(|length| *length > 0).map(|_| line));
        });
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

/// Returns whether there is a person to read a question and to type an answer.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
