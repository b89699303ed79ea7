//! [`Callers`]: the callers that wait for the replies to their requests.

use std::collections::VecDeque;
use std::mem;
use std::task::{Context, Poll, Waker};

use mcpwire_client::ReplySlots;
use mcpwire_core::{Notification, Reply, RequestKey};

/// Maximum number of reports that wait for the caller of a request. 64: beyond that, the oldest report is dropped.
const MAX_REPORTS: usize = 64;

/// The callers that wait for the replies to their requests.
#[derive(Debug, Default)]
pub(crate) struct Callers(ReplySlots<Caller>);

/// The caller of a request.
#[derive(Debug, Default)]
struct Caller {
    /// Wakes the task that waits for the reply.
    waker: Option<Waker>,
    /// Progress notifications and task statuses. `None` if the caller does not want them.
    reports: Option<VecDeque<Notification>>,
}

/// The result of [`Callers::poll`].
pub(crate) struct ReplyPoll {
    /// `Ready(None)` if the request is unknown, so that no reply will arrive.
    pub(crate) reply: Poll<Option<Reply>>,
    /// Progress notifications and task statuses that have arrived since the last poll.
    pub(crate) reports: VecDeque<Notification>,
    /// Must be dropped without holding the lock. It may be the last reference to a task, and dropping the values of the task may need
    /// the lock.
    pub(crate) unused_waker: Option<Waker>,
}

impl Callers {
    /// Adds the caller of a request that was sent. `wants_reports` also collects its progress and task statuses.
    pub(crate) fn add(&mut self, key: RequestKey, wants_reports: bool) {
        self.0.add(key, Caller { waker: None, reports: wants_reports.then(VecDeque::new) });
    }

    /// Takes the reply and the reports of a request. If the reply has not arrived, the task of `cx` is woken when it does.
    pub(crate) fn poll(&mut self, key: RequestKey, cx: &mut Context<'_>) -> ReplyPoll {
        let Some(slot) = self.0.get_mut(key) else {
            return ReplyPoll { reply: Poll::Ready(None), reports: VecDeque::new(), unused_waker: None };
        };
        let Caller { waker, reports } = &mut slot.waiter;
        let reports = reports.as_mut().map(mem::take).unwrap_or_default();
        if let Some(reply) = slot.reply.take() {
            let unused_waker = waker.take();
            self.0.take(key);
            return ReplyPoll { reply: Poll::Ready(Some(reply)), reports, unused_waker };
        }
        let is_same = waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        let unused_waker = if is_same { None } else { waker.replace(cx.waker().clone()) };
        ReplyPoll { reply: Poll::Pending, reports, unused_waker }
    }

    /// Stores a reply for its caller. Returns the waker of the caller. A caller that has dropped its future has none.
    pub(crate) fn receive(&mut self, reply: Reply) -> Option<Waker> {
        self.0.receive(reply)?.waker.take()
    }

    /// Adds a progress notification or task status to the reports for the caller of its request. Returns the waker of the caller.
    pub(crate) fn report(&mut self, notification: &Notification) -> Option<Waker> {
        let Caller { waker, reports } = &mut self.0.get_mut(notification.request_key()?)?.waiter;
        let reports = reports.as_mut()?;
        if reports.len() == MAX_REPORTS {
            reports.pop_front();
        }
        reports.push_back(notification.clone());
        waker.take()
    }

    /// Removes the caller of a request. Returns its waker, which must be dropped without holding the lock.
    #[must_use]
    pub(crate) fn remove(&mut self, key: RequestKey) -> Option<Waker> {
        self.0.take(key)?.waiter.waker
    }

    /// Sets whether the buffer remains when no caller waits.
    pub(crate) fn set_keeps_memory(&mut self, keeps_memory: bool) {
        self.0.set_keeps_memory(keeps_memory);
    }
}
