//! [`Notifications`]: what the server tells unasked, in order, for whoever wants to hear it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcpwire_core::{Json, Notification};

/// How many may wait to be taken. 1,024: more than a second's worth of the most talkative servers.
const MOST: usize = 1024;

/// How many bytes of text they may hold together. 1 MiB: a stalled consumer is to cost little.
const MOST_BYTES: usize = 1 << 20;

/// What the server tells unasked, in the order in which it told. Made by
/// [`McpClient::notifications`](crate::McpClient::notifications); ends when the connection does.
///
/// A consumer that keeps up misses nothing: before its queue is full, the server is not read for up to 20 ms, which is long
/// for a task that only waits for its turn. One that does not holds up nobody: if more than 1,024 notifications or 1 MiB of them wait, the oldest that may be
/// missed (progress, log messages, and what this client does not know) are dropped, and counted by
/// [`Notifications::dropped`]. That a list has changed is never dropped; as long as it has not been taken, a second such
/// notification says nothing new and is left out.
#[derive(Debug)]
pub struct Notifications(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Notification>,
    bytes: usize,
    dropped: u64,
    over: bool,
    waker: Option<Waker>,
    /// The consumer did not keep up, and has not caught up since.
    stalled: bool,
    /// Wakes the driver that waits for the consumer to catch up.
    room: Option<Waker>,
}

impl Notifications {
    /// The next one; `None` when the connection has ended and all have been taken.
    pub async fn next(&mut self) -> Option<Notification> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// The next one, if there is one already.
    pub fn try_next(&mut self) -> Option<Notification> {
        self.take(|_| {})
    }

    /// How many were dropped because nobody took them in time.
    pub fn dropped(&self) -> u64 {
        lock(&self.0).dropped
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        let mut over = false;
        // Dropped without the lock: it may be the last that holds a task.
        let mut former = None;
        let next = self.take(|queue| {
            over = queue.over;
            former = replace(&mut queue.waker, cx.waker());
        });
        drop(former);
        if next.is_none() && !over { Poll::Pending } else { Poll::Ready(next) }
    }

    fn take(&mut self, if_empty: impl FnOnce(&mut Queue)) -> Option<Notification> {
        let mut queue = lock(&self.0);
        let notification = queue.pop();
        if notification.is_none() {
            if_empty(&mut queue);
        }
        let room = queue.room();
        drop(queue);
        if let Some(driver) = room {
            driver.wake();
        }
        notification
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        // The driver may hold the queue too, and drop it with the lock of the connection. No waker may be in it then.
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wakers = (queue.waker.take(), queue.room.take());
        drop(queue);
        drop(wakers);
    }
}

impl Stream for Notifications {
    type Item = Notification;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Notification>> {
        self.poll(cx)
    }
}

impl Queue {
    fn push(&mut self, notification: Notification) {
        // That a list has changed is said by the variant alone.
        let is_same = |waiting: &Notification| mem::discriminant(waiting) == mem::discriminant(&notification);
        if !may_be_missed(&notification) && self.waiting.iter().any(is_same) {
            return;
        }
        self.bytes += weight(&notification);
        self.waiting.push_back(notification);
        while self.waiting.len() > MOST || self.bytes > MOST_BYTES {
            // Those that may not be missed are few: each is there once.
            let Some(oldest) = self.waiting.iter().position(may_be_missed) else { return };
            if let Some(missed) = self.waiting.remove(oldest) {
                self.bytes -= weight(&missed);
                self.dropped += 1;
            }
        }
    }

    fn pop(&mut self) -> Option<Notification> {
        let notification = self.waiting.pop_front()?;
        self.bytes -= weight(&notification);
        if self.waiting.is_empty() {
            self.stalled = false;
            // A burst is not to be paid for as long as the connection lives.
            self.waiting.shrink_to(16);
        }
        Some(notification)
    }

    /// Whether it is worth to wait for the consumer.
    fn is_crowded(&self) -> bool {
        !self.stalled && (self.waiting.len() >= MOST / 2 || self.bytes >= MOST_BYTES / 2)
    }

    /// Who waits for the consumer to catch up, if it has.
    fn room(&mut self) -> Option<Waker> {
        if self.waiting.is_empty() { self.room.take() } else { None }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the waker of a task. Returns the one that was there before, if it is another.
#[must_use = "it is to be dropped without any lock"]
fn replace(kept: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
    match kept {
        Some(former) if former.will_wake(waker) => None,
        kept => kept.replace(waker.clone()),
    }
}

fn may_be_missed(notification: &Notification) -> bool {
    !matches!(notification, Notification::ToolsChanged | Notification::PromptsChanged | Notification::ResourcesChanged)
}

/// The bytes of its text.
fn weight(notification: &Notification) -> usize {
    let json = |json: &Option<Json>| json.as_ref().map_or(0, |json| json.get().len());
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    match notification {
        Notification::Progress { progress, .. } => text(&progress.message) + json(&progress.meta),
        Notification::TaskStatus { task, .. } => {
            let texts = [&task.status_message, &task.created_at, &task.last_updated_at];
            let parts = [&task.input_requests, &task.result, &task.error, &task.meta];
            task.task_id.len() + texts.map(text).iter().sum::<usize>() + parts.map(json).iter().sum::<usize>()
        }
        Notification::Log(message) => message.data.get().len() + text(&message.logger) + json(&message.meta),
        Notification::Other { method, params } => method.len() + json(params),
        _ => 0,
    }
}

/// All who want to hear.
#[derive(Default)]
pub(crate) struct Subscribers {
    listeners: Vec<Weak<Mutex<Queue>>>,
    /// One of them may have more than it should be given at once.
    crowded: bool,
}

impl Subscribers {
    pub(crate) fn add(&mut self, over: bool) -> Notifications {
        let queue = Arc::new(Mutex::new(Queue { over, ..Queue::default() }));
        if self.listeners.len() == self.listeners.capacity() {
            // Before it grows: those who have gone need no place.
            self.listeners.retain(|listener| listener.strong_count() > 0);
        }
        self.listeners.push(Arc::downgrade(&queue));
        Notifications(queue)
    }

    /// Passes the notification to all of them, and adds the tasks to wake to `wakers`. Returns how many notifications were
    /// dropped.
    pub(crate) fn tell(&mut self, notification: Notification, wakers: &mut Vec<Waker>) -> u64 {
        let mut dropped = 0;
        let mut told = Some(notification);
        let mut left = self.listeners.len();
        self.listeners.retain(|listener| {
            left -= 1;
            let Some(queue) = listener.upgrade() else { return false };
            // All but the last get a copy.
            let told = if left == 0 { told.take() } else { told.clone() };
            let mut queue = lock(&queue);
            if let Some(told) = told {
                let before = queue.dropped;
                queue.push(told);
                dropped += queue.dropped - before;
            }
            wakers.extend(queue.waker.take());
            self.crowded |= queue.is_crowded();
            true
        });
        dropped
    }

    /// Whether one of them has more to take than it should be given at once.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Whether it still is so. Then `driver` is woken when it has caught up. Wakers that are of no use any more are added
    /// to `former`, to be dropped without the lock.
    pub(crate) fn wait_for_room(&mut self, driver: &Waker, former: &mut Vec<Waker>) -> bool {
        self.crowded = false;
        for queue in self.listeners.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            if queue.is_crowded() {
                self.crowded = true;
                former.extend(replace(&mut queue.room, driver));
            }
        }
        self.crowded
    }

    /// Whoever has not caught up by now is not waited for any more, until it has.
    pub(crate) fn give_up_waiting(&mut self) {
        for queue in self.listeners.iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.stalled |= queue.is_crowded();
        }
        self.crowded = false;
    }

    /// Nothing more will be told.
    pub(crate) fn end(&mut self, wakers: &mut Vec<Waker>) {
        for queue in mem::take(&mut self.listeners).iter().filter_map(Weak::upgrade) {
            let mut queue = lock(&queue);
            queue.over = true;
            wakers.extend(queue.waker.take());
        }
        self.crowded = false;
    }
}
