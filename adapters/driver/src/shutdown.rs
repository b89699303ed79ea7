//! The end of a connection that is on its way.

use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::ShutdownReport;
use mcpwire_core::Timestamp;
use mcpwire_core::internal::EndOfStream;
use mcpwire_core::shutdown::GracePeriods;
use mcpwire_process::{ProcessShutdown, ShutdownAction};

use crate::state::{CloseIntent, State};
use mcpwire_client::Writer;

/// How often to check whether an ending process has exited, on systems that do not report it. 20 ms: a shutdown takes up to
/// seconds, so nobody notices the delay.
pub(crate) const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) enum Shutdown {
    /// Ends a process step by step.
    Process { shutdown: ProcessShutdown, until: Timestamp },
    /// The process has exited. Reads what it wrote last on standard error.
    LastOutput { report: ShutdownReport, until: Timestamp },
    /// Ends the HTTP session on the server.
    #[cfg(feature = "http")]
    Session { until: Timestamp },
    /// Closes a stream, which may take a moment.
    Stream { writer: Option<Writer>, until: Timestamp },
}

impl Shutdown {
    pub(crate) fn begin(state: &mut State, grace_periods: GracePeriods, now: Timestamp) -> Self {
        #[cfg(feature = "http")]
        if state.engine.is_http() {
            return Shutdown::Session { until: now + grace_periods.after_close };
        }
        let grace_periods = match state.close_intent {
            CloseIntent::Kill => GracePeriods { after_close: Duration::ZERO, ..grace_periods },
            CloseIntent::None | CloseIntent::Shutdown => grace_periods,
        };
        if state.process.is_some() {
            Shutdown::Process { shutdown: ProcessShutdown::new(grace_periods), until: now }
        } else {
            Shutdown::Stream { writer: state.writer.take(), until: now + grace_periods.after_close }
        }
    }

    /// Does what is due. Returns the report when nothing is left. With `is_watched`, the exit of the process wakes the driver.
    pub(crate) fn poll(
        &mut self,
        state: &mut State,
        is_watched: bool,
        has_stderr: bool,
        now: Timestamp,
        cx: &mut Context<'_>,
    ) -> Poll<ShutdownReport> {
        match self {
            Shutdown::LastOutput { report, until } if !has_stderr || *until <= now => Poll::Ready(*report),
            Shutdown::LastOutput { .. } => Poll::Pending,
            Shutdown::Process { shutdown, until } => loop {
                let Some(process) = &mut state.process else { return Poll::Ready(ShutdownReport::without_process()) };
                match shutdown.next(process, now) {
                    ShutdownAction::CloseInput => state.writer = None,
                    ShutdownAction::Wait(at) => {
                        *until = if is_watched { at } else { at.min(now + EXIT_POLL_INTERVAL) };
                        return Poll::Pending;
                    }
                    ShutdownAction::Done(report) if has_stderr => {
                        *self = Shutdown::LastOutput { report, until: now + EndOfStream::LAST_WORDS };
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

    /// Returns the next time at which there is something to do.
    pub(crate) fn deadline(&self) -> Timestamp {
        match self {
            #[cfg(feature = "http")]
            Shutdown::Session { until } => *until,
            Shutdown::Process { until, .. } | Shutdown::LastOutput { until, .. } | Shutdown::Stream { until, .. } => {
                *until
            }
        }
    }
}
