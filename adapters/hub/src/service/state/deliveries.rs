//! [`Deliveries`]: what an update delivers after the lock is released.

use std::task::Waker;

use futures_channel::oneshot;

use crate::HubError;

pub(super) type ReplySender = oneshot::Sender<Result<(), HubError>>;

/// The outcome of [`Hub::boot`](crate::Hub::boot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BootReport {
    /// Number of servers that run, or sleep until they are called.
    pub ready: usize,
    /// Number of servers that failed. Those that may recover are started again.
    pub failed: usize,
    /// Number of servers that were stopped before they ran.
    pub cancelled: usize,
}

/// What an update has to deliver after the lock is released.
#[derive(Default)]
pub(super) struct Deliveries {
    pub(super) wakers: Vec<Waker>,
    pub(super) replies: Vec<(ReplySender, Result<(), HubError>)>,
    pub(super) reports: Vec<(oneshot::Sender<BootReport>, BootReport)>,
}

impl Deliveries {
    pub(super) fn deliver(self) {
        // A receiver may be gone, and needs no answer then.
        for (reply, result) in self.replies {
            let _ = reply.send(result);
        }
        for (sender, report) in self.reports {
            let _ = sender.send(report);
        }
        self.wakers.into_iter().for_each(Waker::wake);
    }
}
