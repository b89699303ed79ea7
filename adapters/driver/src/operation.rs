//! [`OperationRunner`]: runs an operation of the core, which may consist of several requests, to its end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use mcpwire_client::Error;
use mcpwire_core::Notification;
use mcpwire_core::internal::{Operation, Step};

use crate::connection::ConnectionRef;
use crate::pending::PendingReply;

/// A boxed future that can be sent to another thread.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs an operation of the core: polls the operation under the lock, and waits for the replies to its requests without the lock.
pub(crate) struct OperationRunner {
    /// The request whose reply the operation waits for. `None` if the operation must be polled for its next step.
    pending: Option<PendingReply>,
    /// Whether the caller receives progress notifications and task statuses.
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
        loop {
            if let Some(pending) = &mut self.pending {
                let mut reply = ready!(pending.poll(cx, on_report));
                // The reply is decoded here, without the lock.
                operation.receive(&mut reply);
                self.pending = None;
                if let Some(output) = operation.take_output() {
                    return Poll::Ready(Ok(output));
                }
            }
            let step = connection.with_state(|state, now| {
                let step = operation.poll(&mut state.connection.client, &mut state.engine.calls(), now);
                if let Step::Wait(key) = step {
                    state.add_caller(key, self.wants_reports, Some(cx.waker().clone()));
                }
                step
            });
            match step {
                // There is no need to look for the reply now: the driver receives it, and then wakes this task.
                Step::Wait(key) => {
                    self.pending = Some(PendingReply::new(connection, key));
                    return Poll::Pending;
                }
                // Nothing to do: the driver reads all input anyway.
                Step::Drain => {}
                Step::Done(result) => return Poll::Ready(result.map_err(|error| connection.error(error))),
            }
        }
    }
}
