//! [`OperationRunner`]: polls an operation of the core to its end.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_client::Error;
use mcpwire_core::internal::{ClientState, Operation, RequestError, Step};
use mcpwire_core::{Calls, Notification, Reply, Timestamp};

use crate::pending::PendingReply;
use crate::shared::ConnectionRef;

/// A boxed future. A program contains its code once, although several methods await it.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Polls an operation under the lock, and waits for the replies to its requests.
#[derive(Default)]
pub(crate) struct OperationRunner {
    /// The request whose reply the operation waits for. `None` if the operation can proceed without a reply.
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
        let mut with_output = OperationWithOutput { operation, output: None };
        match self.poll_any(connection, &mut with_output, cx, on_report) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) => match with_output.output {
                Some(output) => Poll::Ready(Ok(output)),
                None => Poll::Ready(Err(connection.shared().unknown_request_error())),
            },
        }
    }

    fn poll_any(
        &mut self,
        connection: &ConnectionRef,
        operation: &mut dyn AnyOperation,
        cx: &mut Context<'_>,
        on_report: &mut dyn FnMut(&Notification),
    ) -> Poll<Result<(), Error>> {
        let shared = connection.shared();
        loop {
            if let Some(pending) = &mut self.pending {
                let Poll::Ready(reply) = pending.poll(cx, on_report) else { return Poll::Pending };
                let Some(mut reply) = reply else { return Poll::Ready(Err(shared.unknown_request_error())) };
                // Decodes the reply without holding the lock.
                let has_ended = operation.receive(&mut reply);
                pending.recycle(reply);
                self.pending = None;
                if has_ended {
                    return Poll::Ready(Ok(()));
                }
            }
            let now = shared.clock.now();
            let step = shared.with_state(|state| {
                let step = operation.poll(&mut state.connection.client, &mut state.engine.calls(), now);
                if let Step::Wait(key) = step {
                    state.add_slot(key, self.wants_reports);
                }
                step
            });
            match step {
                Step::Wait(key) => self.pending = Some(PendingReply::new(connection, key)),
                // The driver's task reads all input anyway.
                Step::Drain => {}
                Step::Done(result) => return Poll::Ready(result.map_err(|error| shared.request_error(error))),
            }
        }
    }
}

/// An operation without its output type, so that [`OperationRunner::poll_any`] is compiled once for all methods.
trait AnyOperation {
    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<(), RequestError>>;

    /// Passes a reply to the operation. Returns whether the operation has ended with an output.
    fn receive(&mut self, reply: &mut Reply) -> bool;
}

/// An operation, and its output when it has ended.
struct OperationWithOutput<'o, O: Operation> {
    operation: &'o mut O,
    output: Option<O::Output>,
}

impl<O: Operation> AnyOperation for OperationWithOutput<'_, O> {
    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<(), RequestError>> {
        match self.operation.poll(client, calls, now) {
            Step::Wait(key) => Step::Wait(key),
            Step::Drain => Step::Drain,
            Step::Done(Err(error)) => Step::Done(Err(error)),
            Step::Done(Ok(output)) => {
                self.output = Some(output);
                Step::Done(Ok(()))
            }
        }
    }

    fn receive(&mut self, reply: &mut Reply) -> bool {
        self.operation.receive(reply);
        self.output = self.operation.take_output();
        self.output.is_some()
    }
}

/// Polls an operation to its end.
pub(crate) async fn run<O: Operation>(connection: &ConnectionRef, mut operation: O) -> Result<O::Output, Error> {
    let mut runner = OperationRunner::default();
    poll_fn(|cx| runner.poll(connection, &mut operation, cx, &mut |_| {})).await
}
