//! [`Shutdown`]: shuts a connection down step by step, depending on its transport.

use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport, Writer};
use mcpwire_core::Timestamp;
use mcpwire_process::{ProcessShutdown, ShutdownAction};

use crate::locked_state::{CloseIntent, State};

/// A shutdown in progress. The driver polls it until the server has ended.
pub(crate) struct Shutdown {
    target: Target,
    /// Time at which the driver must call [`Shutdown::poll`] again, even if nothing has happened.
    pub(crate) until: Timestamp,
}

enum Target {
    /// Closes the input of the server process, then sends signals, then waits for the last output on standard error.
    Process(ProcessShutdown),
    /// Waits until the HTTP requests that end the session are complete.
    #[cfg(feature = "http")]
    Session,
    /// Closes the writer of a pair of streams. `None` after the writer was closed.
    Stream(Option<Writer>),
}

impl Shutdown {
    /// Chooses how to shut this connection down. The first call of [`Shutdown::poll`] takes the first step.
    pub(crate) fn begin(state: &mut State, mut grace_periods: GracePeriods, now: Timestamp) -> Self {
        #[cfg(feature = "http")]
        if state.engine.http().is_some() {
            return Shutdown { target: Target::Session, until: now + grace_periods.after_close };
        }
        if state.close_intent == CloseIntent::Kill {
            grace_periods.after_close = Duration::ZERO;
        }
        if state.server.process().is_some() {
            Shutdown { target: Target::Process(ProcessShutdown::new(grace_periods)), until: now }
        } else {
            Shutdown { target: Target::Stream(state.output.writer.take()), until: now + grace_periods.after_close }
        }
    }

    /// Takes the steps of the shutdown that are due. Returns the report when the shutdown is complete.
    ///
    /// `is_watched` means that the driver is woken when the process exits. `has_stderr` means that standard error is still open.
    pub(crate) fn poll(
        &mut self,
        state: &mut State,
        is_watched: bool,
        has_stderr: bool,
        now: Timestamp,
        cx: &mut Context<'_>,
    ) -> Poll<ShutdownReport> {
        match &mut self.target {
            Target::Process(shutdown) => loop {
                match shutdown.next(state.server.process(), is_watched, has_stderr, now) {
                    ShutdownAction::CloseInput => drop(state.output.writer.take()),
                    ShutdownAction::Wait(at) => {
                        self.until = at;
                        return Poll::Pending;
                    }
                    ShutdownAction::Done(report) => return Poll::Ready(report),
                }
            },
            #[cfg(feature = "http")]
            Target::Session => {
                let is_done = state.engine.http().is_none_or(|engine| engine.exchanges() == 0);
                if is_done || self.until <= now {
                    Poll::Ready(ShutdownReport::without_process())
                } else {
                    Poll::Pending
                }
            }
            Target::Stream(writer) => {
                if let Some(open) = writer
                    && self.until > now
                    && open.as_mut().poll_close(cx).is_pending()
                {
                    return Poll::Pending;
                }
                *writer = None;
                Poll::Ready(ShutdownReport::without_process())
            }
        }
    }
}
