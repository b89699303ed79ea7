//! [`Deliveries`] collects the results and wakers that an update of the hub's state delivers after it has released the
//! lock.

use std::task::Waker;

use futures_channel::oneshot;

use crate::HubError;

pub(super) type ReplySender = oneshot::Sender<Result<(), HubError>>;

/// The outcome of [`Hub::boot`](crate::Hub::boot): how many servers are ready, failed or were cancelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BootReport {
    /// Number of servers that run, or sleep until one of their tools is called.
    pub ready: usize,
    /// Number of servers that failed to start. Servers that may recover are restarted automatically.
    pub failed: usize,
    /// Number of servers whose start was cancelled by another command, for example to stop the server.
    pub cancelled: usize,
}

/// The results and wakers that an update of the hub's state delivers after it has released the lock of the state.
#[derive(Default)]
pub(super) struct Deliveries {
    pub(super) wakers: Vec<Waker>,
    pub(super) replies: Vec<(ReplySender, Result<(), HubError>)>,
    pub(super) reports: Vec<(oneshot::Sender<BootReport>, BootReport)>,
}

impl Deliveries {
    pub(super) fn deliver(self) {
        // If the receiver was dropped, nobody needs the result.
        for (reply, result) in self.replies {
            let _ = reply.send(result);
        }
        for (sender, report) in self.reports {
            let _ = sender.send(report);
        }
        self.wakers.into_iter().for_each(Waker::wake);
    }
}
