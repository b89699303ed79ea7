//! Asks the user questions at the terminal: [`Terminal`], [`Prompt`] and [`agrees`]. [`read_secret`] hides what the user types.

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

/// Reads a line from the terminal without showing what the user types. Returns `None` at the end of the input.
///
/// The settings of the terminal are restored in all cases. A signal (Ctrl-C, Ctrl-\, hangup, termination) ends the process with
/// the exit status 128 + signal number, as in shells.
#[cfg(unix)]
pub(crate) fn read_secret() -> io::Result<Option<String>> {
    match unix::read_hidden()? {
        unix::Ended::Line(line) => Ok(line),
        unix::Ended::Signal(number) => {
            use std::io::Write as _;
            let _ = anstream::stderr().write_all(b"\n");
            std::process::exit(128 + number)
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn read_secret() -> io::Result<Option<String>> {
    rpassword::read_password().map(Some)
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::thread;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use tokio::signal::unix::{Signal, SignalKind, signal};
    use tokio::sync::oneshot;

    /// How the prompt for a secret ended: with a line or the end of the input, or with a signal.
    pub(super) enum Ended {
        Line(Option<String>),
        Signal(i32),
    }

    /// Turns off the echo of the terminal, so that typed text is not shown. Dropping this value turns on the echo again.
    struct Hidden {
        before: Termios,
    }

    impl Hidden {
        fn begin() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut hidden = before.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
            Ok(Hidden { before })
        }
    }

    impl Drop for Hidden {
        fn drop(&mut self) {
            // `Flush` would discard text that the user has typed ahead for the shell.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }

    /// Waits for a line on standard input without showing what the user types. A signal that would end the process ends the
    /// wait.
    ///
    /// Ctrl-Z is ignored meanwhile, because a stopped process could not restore the settings of the terminal.
    pub(super) fn read_hidden() -> io::Result<Ended> {
        let runtime = super::super::interrupt::runtime()?;
        runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut quit = signal(SignalKind::quit())?;
            let mut terminate = signal(SignalKind::terminate())?;
            let mut hangup = signal(SignalKind::hangup())?;
            let _stop: Signal = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
            // The signal handlers come first: otherwise a signal could end the process before the terminal is restored.
            let _hidden = Hidden::begin()?;
            let (sender, line) = oneshot::channel();
            // A blocking read cannot be interrupted. After a signal, this thread stays until the process ends.
            let read = move || {
                let mut line = String::new();
                let read = io::stdin().read_line(&mut line);
                let _ = sender.send(read.map(|length| (length > 0).then_some(line)));
            };
            thread::Builder::new().spawn(read)?;
            let of = |kind: SignalKind| Ok(Ended::Signal(kind.as_raw_value()));
            tokio::select! {
                line = line => line.map_err(io::Error::other)?.map(Ended::Line),
                _ = interrupt.recv() => of(SignalKind::interrupt()),
                _ = quit.recv() => of(SignalKind::quit()),
                _ = terminate.recv() => of(SignalKind::terminate()),
                _ = hangup.recv() => of(SignalKind::hangup()),
            }
        })
    }
}
