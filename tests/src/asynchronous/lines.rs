//! What a server says on standard error, for those who wait for a word of it.

use std::future::poll_fn;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

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
