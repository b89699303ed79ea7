//! The tasks that wait for the replies to their requests, and the progress notifications and task statuses that they receive.

use std::collections::VecDeque;
use std::mem;
use std::task::{Context, Poll, Waker};

use mcpwire_core::{Notification, Reply, RequestKey};

use crate::locked_state::{Caller, State};

/// Maximum number of reports (progress notifications and task statuses) in the queue of one caller. When the queue is full, the
/// oldest report is dropped.
const MAX_REPORTS: usize = 64;

impl State {
    /// Registers a caller that waits for the reply to a request. If `wants_reports`, the caller also receives the progress
    /// notifications and task statuses of the request. `waker` wakes its task. `None` if the task will poll for the reply first.
    pub(crate) fn add_caller(&mut self, key: RequestKey, wants_reports: bool, waker: Option<Waker>) {
        self.callers.add(key, Caller { waker, reports: wants_reports.then(VecDeque::new) });
    }

    /// Takes the reply to a request, and the progress notifications and task statuses that have arrived since the last poll.
    ///
    /// If the reply has not arrived, the task of `cx` is woken by the reply or the next report.
    pub(crate) fn poll_reply(
        &mut self,
        key: RequestKey,
        cx: &mut Context<'_>,
    ) -> (Poll<Reply>, VecDeque<Notification>) {
        let Some(slot) = self.callers.get_mut(key) else { return (Poll::Pending, VecDeque::new()) };
        let reports = slot.waiter.reports.as_mut().map(mem::take).unwrap_or_default();
        if let Some(reply) = slot.reply.take() {
            self.remove_caller(key);
            return (Poll::Ready(reply), reports);
        }
        self.wakers.store(&mut slot.waiter.waker, cx);
        (Poll::Pending, reports)
    }

    /// Removes the caller of a request, because the caller has the reply or no longer waits for it.
    pub(crate) fn remove_caller(&mut self, key: RequestKey) {
        self.wakers.unused.extend(self.callers.take(key).and_then(|slot| slot.waiter.waker));
    }

    /// Queues a progress notification or task status for the caller of its request, and wakes the caller.
    pub(crate) fn report(&mut self, notification: &Notification) {
        let Some(slot) = notification.request_key().and_then(|key| self.callers.get_mut(key)) else { return };
        let Caller { waker, reports: Some(reports) } = &mut slot.waiter else { return };
        if reports.len() == MAX_REPORTS {
            reports.pop_front();
        }
        reports.push_back(notification.clone());
        self.wakers.tasks.extend(waker.take());
    }
}
