//! [`HandlerContext`]: the server, the client's request and the cancellation of a server's request.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use mcpwire_core::{ClientRequest, Json, ServerRequest, ServerRequestId};

use crate::lock;

/// The context of a server's request: the server, the related request of the client, and the cancellation. Cheap to clone.
#[derive(Clone)]
pub struct HandlerContext(Arc<Inner>);

struct Inner {
    server: Arc<str>,
    method: String,
    id: ServerRequestId,
    request: Option<Box<ClientRequest>>,
    meta: Option<Json>,
    cancellation: Mutex<Cancellation>,
}

impl HandlerContext {
    pub(super) fn new(server: &Arc<str>, request: &ServerRequest) -> Self {
        HandlerContext(Arc::new(Inner {
            server: Arc::clone(server),
            method: request.method.clone(),
            id: request.key,
            request: request.during.clone(),
            meta: request.params.as_ref().and_then(|params| params.member("_meta")),
            cancellation: Mutex::default(),
        }))
    }

    /// Returns the name of the server, as in errors. Show it to the user when the server asks the user for something.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the method of the server's request, such as `elicitation/create`.
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// Returns the key of the server's request within the connection.
    pub fn id(&self) -> ServerRequestId {
        self.0.id
    }

    /// Returns the request of the client that the server needs the answer for.
    ///
    /// `None` for a legacy server (up to revision 2025-11-25), because its requests do not identify the client's request.
    pub fn request(&self) -> Option<&ClientRequest> {
        self.0.request.as_deref()
    }

    /// Returns the name of the called tool, if [`HandlerContext::request`] is a tool call.
    pub fn tool(&self) -> Option<&str> {
        self.request()?.tool()
    }

    /// Returns the `_meta` of the server's request.
    pub fn meta(&self) -> Option<&Json> {
        self.0.meta.as_ref()
    }

    /// Returns whether the answer is no longer needed. See [`HandlerContext::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        lock(&self.0.cancellation).is_set
    }

    /// Waits until the answer is no longer needed: the server has cancelled its request, the request of the client has
    /// ended, the connection has ended, or the handler has answered.
    ///
    /// Then the handler's future is polled once more and dropped. A handler can pass the context to other tasks and threads,
    /// which may wait for longer.
    pub fn cancelled(&self) -> CancelledFuture {
        CancelledFuture(Arc::clone(&self.0))
    }

    pub(super) fn cancel(&self) {
        let mut state = lock(&self.0.cancellation);
        state.is_set = true;
        let waiting = mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl fmt::Debug for HandlerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerContext")
            .field("server", &self.server())
            .field("method", &self.method())
            .field("request", &self.request())
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

/// A future that resolves when a server no longer needs an answer. Created by [`HandlerContext::cancelled`].
pub struct CancelledFuture(Arc<Inner>);

impl Future for CancelledFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0.cancellation);
        if state.is_set {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl fmt::Debug for CancelledFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelledFuture").finish_non_exhaustive()
    }
}

/// The cancellation of a server's request, and the tasks that wait for the cancellation.
#[derive(Default)]
struct Cancellation {
    is_set: bool,
    waiting: Vec<Waker>,
}
