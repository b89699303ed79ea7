//! Asks the user questions at the terminal: [`Terminal`], [`Prompt`] and [`agrees`].

use std::io::{self, IsTerminal, Write};

use super::interrupt::Interrupt;
use crate::args::Options;
use crate::failure::Failure;

/// A terminal for a dialogue with the user. Tests implement this trait with scripted input.
pub(crate) trait Terminal {
    /// Shows a text to the user. The caller has removed control characters from `text`, which may contain colors.
    fn show(&mut self, text: &str);

    /// Waits for the next line that the user types. Returns `None` after Ctrl-C, and at the end of the input.
    fn read(&mut self) -> Option<String>;
}

/// The terminal of this process, to ask the user questions: writes to standard error, and reads standard input.
pub(crate) struct Prompt;

impl Terminal for Prompt {
    fn show(&mut self, text: &str) {
        let mut stderr = anstream::stderr();
        // Errors are ignored: standard error may be closed.
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    fn read(&mut self) -> Option<String> {
        let read = || {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line);
            read.ok().filter(|length| *length > 0).map(|_| line)
        };
        let line = Interrupt::install().read(read).flatten();
        if line.is_none() {
            self.show("\n");
        }
        line.map(|line| line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

/// Asks the user a question at the terminal, and returns whether the answer is yes. Enter alone means `by_default`. The end of
/// the input means no. Returns `false` without asking if there is no terminal or if `--json` is given.
///
/// # Errors
/// If the user presses Ctrl-C.
pub(crate) fn agrees(question: &str, by_default: bool, options: &Options) -> Result<bool, Failure> {
    if options.json || !is_at_terminal() {
        return Ok(false);
    }
    Prompt.show(&format!("{question} [{}] ", if by_default { "Y/n" } else { "y/N" }));
    let typed = Prompt.read();
    if Interrupt::install().was_pressed() {
        return Err(Failure::interrupted());
    }
    let word = typed.map(|line| line.trim().to_lowercase());
    Ok(word.is_some_and(|word| matches!(&*word, "y" | "yes") || by_default && word.is_empty()))
}

/// Returns whether standard input and standard error are terminals, so that the user can answer questions.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
