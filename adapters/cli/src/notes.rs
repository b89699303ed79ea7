//! What is told on standard error while a command runs: progress, the server's log messages, its own standard error.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mcpwire_blocking::protocol::{LogMessage, LoggingLevel, Progress, Task, printable};
use owo_colors::{AnsiColors, OwoColorize};

use crate::text;

/// Log messages are cut: the whole is in the trace.
const LONGEST_MESSAGE: usize = 2_000;

/// What is over sooner than this has no progress bar.
const SOON: Duration = Duration::from_millis(300);

/// The lines and the progress bar on standard error; clones write to the same place.
#[derive(Clone)]
pub(crate) struct Notes {
    quiet: bool,
    running: Arc<Mutex<Option<Running>>>,
}

/// What is being waited for.
struct Running {
    bar: ProgressBar,
    what: String,
    /// Dropped when it is over.
    _over: mpsc::Sender<()>,
}

impl Notes {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, running: Arc::default() }
    }

    pub(crate) fn are_shown(&self) -> bool {
        !self.quiet
    }

    /// Shows, on a terminal, that something takes its time.
    pub(crate) fn start(&self, what: &str) {
        if self.quiet {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {wide_msg} {elapsed}"));
        bar.set_message(text::line(what));
        let (over, is_over) = mpsc::channel();
        let shown = bar.clone();
        thread::spawn(move || {
            if is_over.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        *self.running() = Some(Running { bar, what: what.to_owned(), _over: over });
    }

    /// Shows that a call of a tool is waited for; gives who is told how far it is.
    pub(crate) fn watch_call(&self, tool: &str) -> impl FnMut(&Progress) + Send + 'static {
        self.start(&format!("calling {tool}"));
        let notes = self.clone();
        move |progress| notes.progress(progress)
    }

    /// Shows how far it is.
    fn progress(&self, progress: &Progress) {
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
            let mut message = text::line(message);
            text::cut(&mut message, 80);
            bar.set_message(message);
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(running) = self.running().take() {
            running.bar.finish_and_clear();
        }
    }

    /// Does something that needs the terminal for itself: the bar is away meanwhile.
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

    /// A log message of the server.
    pub(crate) fn log(&self, message: &LogMessage) {
        if self.quiet {
            return;
        }
        let color = match message.level {
            LoggingLevel::Debug | LoggingLevel::Info | LoggingLevel::Notice => AnsiColors::Cyan,
            LoggingLevel::Warning => AnsiColors::Yellow,
            _ => AnsiColors::Red,
        };
        let logger = message.logger.as_deref().map(|logger| format!("{}: ", text::line(logger))).unwrap_or_default();
        let mut said = text::line(&message.text());
        text::cut(&mut said, LONGEST_MESSAGE);
        self.line(&format!("{} {logger}{said}", format_args!("[{}]", message.level).color(color)));
    }

    /// How a task stands.
    pub(crate) fn task(&self, task: &Task) {
        if !self.quiet {
            self.line(&crate::commands::task::line(task));
        }
    }

    /// A line of the server's standard error.
    pub(crate) fn server_stderr(&self, line: &str) {
        self.line(&format!("{} {}", "server:".dimmed(), printable(line.trim_end())));
    }

    /// A line of our own.
    pub(crate) fn line(&self, line: &str) {
        // Standard error may be closed; that is no reason to stop.
        let write = || {
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

/// What the whole bar counts as.
const STEPS: u32 = 1_000;

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}
