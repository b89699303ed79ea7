//! [`Answers`]: runs the program's handlers for requests of the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};

use mcpwire_client::{ConnectionHandlers, OutgoingAnswer, PendingAnswers};
use mcpwire_core::{Root, ServerRequest, ServerRequestId};

use crate::cancel::Canceller;

/// The program's handlers and their pending answers.
pub(crate) struct Answers {
    handlers: Arc<ConnectionHandlers>,
    pending: PendingAnswers,
    waker: Arc<HandlerWaker>,
}

/// Wakes the client's thread when the future of a handler can continue.
#[derive(Default)]
struct HandlerWaker {
    is_woken: AtomicBool,
    /// Set before the thread first waits with an answer pending.
    canceller: OnceLock<Canceller>,
}

impl Wake for HandlerWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if let Some(canceller) = self.canceller.get() {
            canceller.wake();
        }
    }
}

impl Answers {
    pub(crate) fn new(handlers: Arc<ConnectionHandlers>) -> Self {
        Answers { pending: PendingAnswers::new(Arc::clone(&handlers)), handlers, waker: Arc::default() }
    }

    /// Starts the handler of a request, and returns the complete answers.
    pub(crate) fn start(&mut self, request: ServerRequest) -> Vec<OutgoingAnswer> {
        self.pending.start(request);
        self.poll()
    }

    /// Drops the handler's future for a request that the server has cancelled.
    pub(crate) fn cancel(&mut self, id: ServerRequestId) {
        let waker = Waker::from(Arc::clone(&self.waker));
        self.pending.cancel(id, &mut Context::from_waker(&waker));
    }

    /// Returns whether an answer is pending and its handler has no way to wake the thread yet.
    pub(crate) fn needs_canceller(&self) -> bool {
        !self.pending.is_empty() && self.waker.canceller.get().is_none()
    }

    /// Sets the handle with which handlers wake the thread.
    pub(crate) fn set_canceller(&mut self, canceller: Canceller) {
        let _ = self.waker.canceller.set(canceller);
    }

    /// Polls the handlers if one was woken, and returns the complete answers.
    pub(crate) fn poll_woken(&mut self) -> Vec<OutgoingAnswer> {
        if self.waker.is_woken.load(Ordering::Relaxed) { self.poll() } else { Vec::new() }
    }

    /// Replaces the answer to `roots/list`.
    pub(crate) fn set_roots(&mut self, roots: impl IntoIterator<Item = Root>) {
        self.handlers.set_roots(roots.into_iter().collect());
    }

    fn poll(&mut self) -> Vec<OutgoingAnswer> {
        // Cleared before the poll, so that a wake-up during the poll is not lost.
        self.waker.is_woken.swap(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.waker));
        self.pending.poll(&mut Context::from_waker(&waker))
    }
}
