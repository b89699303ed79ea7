//! The end of a connection that is on its way.

use std::task::{Context, Poll};
use std::time::Duration;

use mcpwire_client::ShutdownReport;
use mcpwire_core::Timestamp;
use mcpwire_core::internal::EndOfStream;
use mcpwire_core::shutdown::GracePeriods;
use mcpwire_process::{Next, Stopping};

use crate::state::{CloseIntent, State};
use mcpwire_client::Writer;

/// How often a process that is ending is asked whether it has exited, where the system does not tell. 20 ms: it ends within
/// seconds, and those who wait for that hardly notice so short a delay.
pub(crate) const UNWATCHED_END: Duration = Duration::from_millis(20);

pub(crate) enum Stop {
    /// A process is ended step by step.
    Process { stopping: Stopping, until: Timestamp },
    /// Nothing is left of it but what it wrote last on standard error.
    LastWords { report: ShutdownReport, until: Timestamp },
    /// The session is ended on the server, which is not waited for long.
    #[cfg(feature = "http")]
    Session { until: Timestamp },
    /// A stream is closed, which may take a moment too.
    Stream { writer: Option<Writer>, until: Timestamp },
}

impl Stop {
    pub(crate) fn begin(state: &mut State, grace_periods: GracePeriods, now: Timestamp) -> Self {
        #[cfg(feature = "http")]
        if state.engine.is_http() {
            return Stop::Session { until: now + grace_periods.after_close };
        }
        let grace_periods = match state.close_intent {
            CloseIntent::Kill => GracePeriods { after_close: Duration::ZERO, ..grace_periods },
            CloseIntent::None | CloseIntent::Shutdown => grace_periods,
        };
        if state.process.is_some() {
            Stop::Process { stopping: Stopping::new(grace_periods), until: now }
        } else {
            Stop::Stream { writer: state.writer.take(), until: now + grace_periods.after_close }
        }
    }

    /// Does what is due. Ready when nothing is left. With `is_watched`, the exit of the process wakes the driver.
    pub(crate) fn poll(
        &mut self,
        state: &mut State,
        is_watched: bool,
        may_speak: bool,
        now: Timestamp,
        cx: &mut Context<'_>,
    ) -> Poll<ShutdownReport> {
        match self {
            Stop::LastWords { report, until } if !may_speak || *until <= now => Poll::Ready(*report),
            Stop::LastWords { .. } => Poll::Pending,
            Stop::Process { stopping, until } => loop {
                let Some(process) = &mut state.process else { return Poll::Ready(ShutdownReport::of_streams()) };
                match stopping.next(process, now) {
                    Next::CloseInput => state.writer = None,
                    Next::Wait(at) => {
                        *until = if is_watched { at } else { at.min(now + UNWATCHED_END) };
                        return Poll::Pending;
                    }
                    Next::Done(report) if may_speak => {
                        *self = Stop::LastWords { report, until: now + EndOfStream::LAST_WORDS };
                        return Poll::Pending;
                    }
                    Next::Done(report) => return Poll::Ready(report),
                }
            },
            #[cfg(feature = "http")]
            Stop::Session { until } => {
                let is_done = state.engine.http().is_none_or(|engine| engine.exchanges() == 0);
                if is_done || *until <= now { Poll::Ready(ShutdownReport::of_streams()) } else { Poll::Pending }
            }
            Stop::Stream { writer, until } => {
                if let Some(open) = writer
                    && *until > now
                    && open.as_mut().poll_close(cx).is_pending()
                {
                    return Poll::Pending;
                }
                *writer = None;
                Poll::Ready(ShutdownReport::of_streams())
            }
        }
    }

    /// When there is something to do, whatever else happens.
    pub(crate) fn deadline(&self) -> Timestamp {
        match self {
            #[cfg(feature = "http")]
            Stop::Session { until } => *until,
            Stop::Process { until, .. } | Stop::LastWords { until, .. } | Stop::Stream { until, .. } => *until,
        }
    }
}
