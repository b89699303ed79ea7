//! The answers to the requests of the server, as the thread that waits for the server sends them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};

use mcpwire_client::{ConnectionHandlers, OutgoingAnswer, PendingAnswers, method_not_found};
use mcpwire_core::{Root, ServerRequest, ServerRequestId};

use crate::cancel::Canceller;

/// The program's handlers, and the requests of the server that they have not answered yet. Empty if the program has no
/// handlers.
#[derive(Default)]
pub(crate) struct Answers(Option<Box<Inner>>);

struct Inner {
    handlers: Arc<dyn ConnectionHandlers>,
    pending: Box<dyn PendingAnswers>,
    waker: Arc<HandlerWaker>,
}

/// Wakes the thread that waits for the server, for a handler that can continue.
#[derive(Default)]
struct HandlerWaker {
    is_woken: AtomicBool,
    /// Set before the thread waits while an answer is pending.
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
    pub(crate) fn new(handlers: Option<Arc<dyn ConnectionHandlers>>) -> Self {
        Answers(handlers.map(|handlers| {
            let pending = Arc::clone(&handlers).pending();
            Box::new(Inner { handlers, pending, waker: Arc::default() })
        }))
    }

    /// Starts the answer to a request, and returns the answers that are complete.
    pub(crate) fn start(&mut self, request: ServerRequest) -> Vec<OutgoingAnswer> {
        let Some(inner) = &mut self.0 else { return vec![OutgoingAnswer::refused(request.key, method_not_found())] };
        inner.pending.start(request);
        inner.poll()
    }

    /// Drops the answer to a request that needs none any more.
    pub(crate) fn cancel(&mut self, id: ServerRequestId) {
        if let Some(inner) = &mut self.0 {
            let waker = Waker::from(Arc::clone(&inner.waker));
            inner.pending.cancel(id, &mut Context::from_waker(&waker));
        }
    }

    /// Returns whether an answer is pending whose handler cannot wake the thread yet.
    pub(crate) fn needs_canceller(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| !inner.pending.is_empty() && inner.waker.canceller.get().is_none())
    }

    /// Lets the handlers wake the thread that waits.
    pub(crate) fn set_canceller(&mut self, canceller: Canceller) {
        if let Some(inner) = &mut self.0 {
            let _ = inner.waker.canceller.set(canceller);
        }
    }

    /// Polls the handlers if one was woken, and returns the answers that are complete.
    pub(crate) fn poll_woken(&mut self) -> Vec<OutgoingAnswer> {
        match &mut self.0 {
            Some(inner) if inner.waker.is_woken.load(Ordering::Relaxed) => inner.poll(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn set_roots(&mut self, roots: impl IntoIterator<Item = Root>) {
        if let Some(inner) = &self.0 {
            inner.handlers.set_roots(roots.into_iter().collect());
        }
    }
}

impl Inner {
    fn poll(&mut self) -> Vec<OutgoingAnswer> {
        // Before the handlers are polled, so that no wake-up in between is lost.
        self.waker.is_woken.swap(false, Ordering::SeqCst);
        let waker = Waker::from(Arc::clone(&self.waker));
        self.pending.poll(&mut Context::from_waker(&waker))
    }
}
