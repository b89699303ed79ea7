//! [`Console`]: writes progress, notes, log messages and the server's stderr to standard error.

mod interrupt;
pub(crate) mod output;
mod prompt;
mod runtime;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mcpwire_hub::redact::Redactor;
use mcpwire_tokio::protocol::{LogMessage, LoggingLevel, Progress, Task, printable};
use owo_colors::{AnsiColors, OwoColorize};
#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub(crate) use self::interrupt::{Foreground, Interrupt, warn_of_lost_logins};
pub(crate) use self::prompt::{Prompt, Terminal, agrees, is_at_terminal};
pub(crate) use self::system::read_secret;
use crate::args::Options;
use crate::{show, text};

/// Delay before a progress bar appears. Operations that end earlier show no progress bar.
const SOON: Duration = Duration::from_millis(300);

/// Writes lines to standard error, and shows a progress bar there. Clones share the progress bar.
#[derive(Clone)]
pub(crate) struct Console {
    json: bool,
    quiet: bool,
    running: Arc<Mutex<Option<Running>>>,
    secrets: Arc<OnceLock<Redactor>>,
}

/// The progress bar of an operation that is running, and the text that describes the operation.
struct Running {
    bar: ProgressBar,
    what: String,
    /// Dropping this sender ends the thread that waits before it shows the progress bar.
    _over: mpsc::Sender<()>,
}

impl Console {
    pub(crate) fn new(options: &Options) -> Self {
        let Options { json, quiet, .. } = *options;
        Self { json, quiet, running: Arc::default(), secrets: Arc::default() }
    }

    /// Replaces secrets in all lines that are written from now on.
    pub(crate) fn hide(&self, secrets: &Redactor) {
        // A command talks to one server, so the secrets are set once.
        let _ = self.secrets.set(secrets.clone());
    }

    /// Returns whether notes and progress bars are shown. `--quiet` hides them. `--json` hides them too, because programs then
    /// read standard error.
    pub(crate) fn is_shown(&self) -> bool {
        !self.quiet && !self.json
    }

    /// Writes a line to standard error, unless `--quiet` or `--json` is given.
    pub(crate) fn note(&self, line: &str) {
        if self.is_shown() {
            self.line(line);
        }
    }

    /// Writes a line to standard error, unless `--quiet` is given.
    pub(crate) fn warn(&self, line: &str) {
        if !self.quiet {
            self.line(line);
        }
    }

    /// Shows a progress bar on the terminal until [`Console::finish`] is called. `what` describes the operation.
    pub(crate) fn start(&self, what: &str) {
        if !self.is_shown() {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {wide_msg} {elapsed}"));
        bar.set_message(text::line(what));
        let (over, is_over) = mpsc::channel();
        let shown = bar.clone();
        let show = move || {
            if is_over.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        };
        // If no thread can be started, no progress is shown.
        let _ = thread::Builder::new().spawn(show);
        *self.running() = Some(Running { bar, what: what.to_owned(), _over: over });
    }

    /// Shows a progress bar for a tool call. Returns a callback that updates the progress bar.
    pub(crate) fn watch_call(&self, tool: &str) -> impl FnMut(&Progress) + Send + 'static {
        self.start(&format!("calling {tool}"));
        let console = self.clone();
        move |progress| console.progress(progress)
    }

    /// Changes the text beside the progress bar.
    pub(crate) fn update(&self, message: &str) {
        if let Some(Running { bar, .. }) = &*self.running() {
            bar.set_message(text::line(message));
        }
    }

    /// Shows the progress of the operation that [`Console::start`] has announced.
    pub(crate) fn progress(&self, progress: &Progress) {
        let running = self.running();
        let Some(Running { bar, .. }) = &*running else {
            return;
        };
        if let Some(fraction) = progress.fraction() {
            if bar.length() != Some(STEPS.into()) {
                bar.set_length(STEPS.into());
                bar.set_style(style("[{bar:30}] {percent:>3}% {wide_msg} {elapsed}"));
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most STEPS, and not below 0"
            )]
            bar.set_position((fraction * f64::from(STEPS)) as u64);
        }
        if let Some(message) = &progress.message {
            bar.set_message(text::short(message, 80));
        }
    }

    /// Removes the progress bar from the terminal.
    pub(crate) fn finish(&self) {
        if let Some(running) = self.running().take() {
            running.bar.finish_and_clear();
        }
    }

    /// Hides the progress bar while `f` runs, because `f` uses the terminal. Shows the progress bar again afterwards.
    pub(crate) fn aside<T>(&self, f: impl FnOnce() -> T) -> T {
        let running = self.running().take();
        let what = running.map(|running| {
            running.bar.finish_and_clear();
            running.what
        });
        let result = f();
        if let Some(what) = what {
            self.start(&what);
        }
        result
    }

    /// Writes a log message of the server to standard error, unless `--quiet` or `--json` is given.
    pub(crate) fn log(&self, message: &LogMessage) {
        let color = match message.level {
            LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice => AnsiColors::Cyan,
            LoggingLevel::Warning => AnsiColors::Yellow,
            _ => AnsiColors::Red,
        };
        let level = format!("[{}]", message.level);
        self.note(&format!("{} {}", level.color(color), show::log_message(message)));
    }

    /// Writes the status of a task to standard error, unless `--quiet` or `--json` is given.
    pub(crate) fn task(&self, task: &Task) {
        self.note(&show::task_line(task));
    }

    /// Prints a line that the server wrote to its standard error, after the prefix `server:`.
    pub(crate) fn server_stderr(&self, line: &str) {
        self.line(&format!("{} {}", "server:".dimmed(), printable(line.trim_end())));
    }

    /// Writes a line to standard error, even with `--quiet` or `--json`. Secrets in the line are replaced.
    pub(crate) fn line(&self, line: &str) {
        let redacted = self.secrets.get().map(|secrets| secrets.redact(line));
        let line = redacted.as_deref().unwrap_or(line);
        let write = || {
            // Errors are ignored: standard error may be closed.
            let _ = writeln!(anstream::stderr(), "{line}");
        };
        match &*self.running() {
            Some(running) => running.bar.suspend(write),
            None => write(),
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Number of steps of a complete progress bar. The fraction of completed work is rounded to a number of steps.
const STEPS: u32 = 1_000;

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}
