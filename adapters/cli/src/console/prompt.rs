//! The terminal, as a dialogue sees it.

use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::interrupt::Interrupt;

/// Where a dialogue is held.
pub(super) trait Terminal {
    /// Shows a text. It is safe to show, and may have colours.
    fn show(&mut self, text: &str);

    /// What the person types next.
    fn read(&mut self) -> Typed;
}

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// No more: Ctrl-C, or the end of the input.
    End,
}

/// Standard error, to be read, and standard input, to be typed on.
pub(super) struct Standard {
    interrupt: Interrupt,
}

/// How soon an interrupt is noticed.
const GLANCE: Duration = Duration::from_millis(50);

impl Standard {
    pub(super) fn new(interrupt: Interrupt) -> Self {
        Self { interrupt }
    }
}

impl Terminal for Standard {
    fn show(&mut self, text: &str) {
        let mut stderr = anstream::stderr();
        // Standard error may be closed; then nobody is asked, and nobody answers.
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// A read cannot be interrupted, so a thread does it; after an interrupt it is left behind, and ends with the process.
    fn read(&mut self) -> Typed {
        let (typed, line) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            // Whoever does not wait any more was interrupted.
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
