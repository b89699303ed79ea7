//! The terminal and the signals of Unix systems.

use std::io::{self, Write as _};
use std::{process, thread};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::runtime::runtime;

/// Calls `press` at each SIGQUIT (Ctrl-\). By default, SIGQUIT would end this process, but not servers that ignore
/// the end of their standard input.
pub(super) fn watch_quit(press: impl Fn() + Send + 'static) -> io::Result<()> {
    let runtime = runtime()?;
    let context = runtime.enter();
    let mut signals = signal(SignalKind::quit())?;
    drop(context);
    let wait = move || {
        while runtime.block_on(signals.recv()).is_some() {
            press();
        }
    };
    thread::Builder::new().name("mcpwire-quit".into()).stack_size(256 * 1024).spawn(wait)?;
    Ok(())
}

/// Reads a line from the terminal without showing what the user types. Returns `None` at the end of the input.
///
/// The settings of the terminal are restored in all cases. A signal (Ctrl-C, Ctrl-\, hangup, termination) ends the process with
/// the exit status 128 + signal number, as in shells.
pub(crate) fn read_secret() -> io::Result<Option<String>> {
    match read_hidden()? {
        Ended::Line(line) => Ok(line),
        Ended::Signal(number) => {
            let _ = anstream::stderr().write_all(b"\n");
            process::exit(128 + number)
        }
    }
}

/// How the prompt for a secret ended: with a line or the end of the input, or with a signal.
enum Ended {
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
fn read_hidden() -> io::Result<Ended> {
    let runtime = runtime()?;
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
