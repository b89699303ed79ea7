//! [`Shutdown`]: ends a connection step by step.

use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::{GracePeriods, ShutdownReport};
use mcpwire_core::Timestamp;
use mcpwire_process::{ProcessShutdown, ShutdownAction};

use crate::locked_state::{CloseIntent, State};
use mcpwire_client::Writer;

/// The stage of a shutdown. `until` is the next time at which [`Shutdown::poll`] must be called.
pub(crate) enum Shutdown {
    /// Closes the input of the process, then sends signals, then waits for the last output on standard error.
    Process { shutdown: ProcessShutdown, until: Timestamp },
    /// Waits for the exchanges that end the HTTP session.
    #[cfg(feature = "http")]
    Session { until: Timestamp },
    /// Closes the writer of a pair of streams.
    Stream { writer: Option<Writer>, until: Timestamp },
}

impl Shutdown {
    /// Creates the shutdown of this connection.
    pub(crate) fn begin(state: &mut State, grace_periods: GracePeriods, now: Timestamp) -> Self {
        #[cfg(feature = "http")]
        if state.engine.is_http() {
            return Shutdown::Session { until: now + grace_periods.after_close };
        }
        let grace_periods = match state.close_intent {
            CloseIntent::Kill => GracePeriods { after_close: Duration::ZERO, ..grace_periods },
            CloseIntent::None | CloseIntent::Shutdown => grace_periods,
        };
        if state.server.process().is_some() {
            Shutdown::Process { shutdown: ProcessShutdown::new(grace_periods), until: now }
        } else {
            Shutdown::Stream { writer: state.output.take_writer(), until: now + grace_periods.after_close }
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
        match self {
            Shutdown::Process { shutdown, until } => loop {
                match shutdown.next(state.server.process(), is_watched, has_stderr, now) {
                    ShutdownAction::CloseInput => drop(state.output.take_writer()),
                    ShutdownAction::Wait(at) => {
                        *until = at;
                        return Poll::Pending;
                    }
                    ShutdownAction::Done(report) => return Poll::Ready(report),
                }
            },
            #[cfg(feature = "http")]
            Shutdown::Session { until } => {
                let is_done = state.engine.http().is_none_or(|engine| engine.exchanges() == 0);
                if is_done || *until <= now { Poll::Ready(ShutdownReport::without_process()) } else { Poll::Pending }
            }
            Shutdown::Stream { writer, until } => {
                if let Some(open) = writer
                    && *until > now
                    && open.as_mut().poll_close(cx).is_pending()
                {
                    return Poll::Pending;
                }
                *writer = None;
                Poll::Ready(ShutdownReport::without_process())
            }
        }
    }

    /// Returns the next time at which [`Shutdown::poll`] must be called.
    pub(crate) fn deadline(&self) -> Timestamp {
        match self {
            #[cfg(feature = "http")]
            Shutdown::Session { until } => *until,
            Shutdown::Process { until, .. } | Shutdown::Stream { until, .. } => *until,
        }
    }
}
