//! What tests watch: lines of standard error, progress, and what is dropped.

use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use mcpwire_blocking::protocol::{Number, Progress};

/// Lines as they come, and a way to wait for one.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    lines: Vec<String>,
    waiting: Vec<Waker>,
}

impl Lines {
    /// One more.
    pub fn push(&self, line: &str) {
        let waiting = {
            let mut kept = self.kept();
            kept.lines.push(line.to_owned());
            mem::take(&mut kept.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Those that have come.
    pub fn all(&self) -> Vec<String> {
        self.kept().lines.clone()
    }

    /// Waits until one of them has the word in it.
    pub async fn heard(&self, word: &str) {
        poll_fn(|cx| {
            let mut kept = self.kept();
            if kept.lines.iter().any(|line| line.contains(word)) {
                return Poll::Ready(());
            }
            kept.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits on the thread that calls until one of them has the word in it.
    pub fn wait_for(&self, word: &str) {
        smol::block_on(self.heard(word));
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets a flag when it is dropped.
#[derive(Debug)]
pub struct OnDrop(pub Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The progress and the total of a progress notification.
pub fn done_of_total(progress: &Progress) -> (f64, Option<f64>) {
    (progress.progress.as_f64(), progress.total.as_ref().map(Number::as_f64))
}
