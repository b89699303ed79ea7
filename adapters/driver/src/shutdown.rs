//! [`Shutdown`]: ends a connection step by step.

use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport, Writer};
use mcpwire_core::Timestamp;
use mcpwire_process::{ProcessShutdown, ShutdownAction};

use crate::locked_state::{CloseIntent, State};

/// The shutdown of a connection.
pub(crate) struct Shutdown {
    target: Target,
    /// The next time at which [`Shutdown::poll`] must be called.
    pub(crate) until: Timestamp,
}

enum Target {
    /// Closes the input of the process, then sends signals, then waits for the last output on standard error.
    Process(ProcessShutdown),
    /// Waits for the exchanges that end the HTTP session.
    #[cfg(feature = "http")]
    Session,
    /// Closes the writer of a pair of streams.
    Stream(Option<Writer>),
}

impl Shutdown {
    /// Creates the shutdown of this connection.
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

    /// Takes the steps that are due. Returns the report when the server has ended.
    ///
    /// `is_watched` means that the exit of the process wakes the driver.
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
