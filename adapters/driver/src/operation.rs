//! [`OperationRunner`]: runs the operations of the core.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_client::Error;
use mcpwire_core::Notification;
use mcpwire_core::internal::{Operation, Step};

use crate::pending::PendingReply;
use crate::shared::ConnectionRef;

/// A boxed future: it is awaited in several places, and compiled once.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs an operation: polls it under the lock, and waits for the replies to its requests.
#[derive(Default)]
pub(crate) struct OperationRunner {
    /// The request whose reply the operation waits for.
    pending: Option<PendingReply>,
    /// Whether reports about the requests are kept for the caller.
    wants_reports: bool,
}

impl OperationRunner {
    pub(crate) fn new(wants_reports: bool) -> Self {
        OperationRunner { pending: None, wants_reports }
    }

    pub(crate) fn poll<O: Operation>(
        &mut self,
        connection: &ConnectionRef,
        operation: &mut O,
        cx: &mut Context<'_>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Poll<Result<O::Output, Error>> {
        let shared = connection.shared();
        loop {
            if let Some(pending) = &mut self.pending {
                let Poll::Ready(reply) = pending.poll(cx, on_report) else { return Poll::Pending };
                let Some(mut reply) = reply else { return Poll::Ready(Err(pending.lost())) };
                // Replies are decoded outside of the lock.
                operation.receive(&mut reply);
                pending.give_back(reply);
                self.pending = None;
                if let Some(output) = operation.take_output() {
                    return Poll::Ready(Ok(output));
                }
            }
            let now = shared.clock.now();
            let step = shared.with_state(|state| {
                let step = operation.poll(&mut state.record.client, &mut state.engine.calls(), now);
                if let Step::Wait(key) = step {
                    state.expect(key, self.wants_reports);
                }
                step
            });
            match step {
                Step::Wait(key) => self.pending = Some(PendingReply::new(connection, key)),
                // The driver reads in the background.
                Step::Drain => {}
                Step::Done(result) => return Poll::Ready(result.map_err(|error| shared.request_error(error))),
            }
        }
    }
}

/// Runs an operation to its end.
pub(crate) async fn run<O: Operation>(connection: &ConnectionRef, mut operation: O) -> Result<O::Output, Error> {
    let mut runner = OperationRunner::default();
    poll_fn(|cx| runner.poll(connection, &mut operation, cx, &mut |_| {})).await
}
