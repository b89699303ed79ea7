//! [`HandlerContext`]: tells a handler which server asks, for which request of the client, and when the server withdraws its
//! request.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use mcpwire_core::{ClientRequest, Json, ServerRequest, ServerRequestId};

use crate::lock;

/// Tells a handler which server has sent a request, for which request of the client, and when the answer is no longer needed.
/// Cheap to clone.
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

    /// Returns the name of the server, as in errors. Show it to the user together with a question of the server.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the method of the server's request, such as `elicitation/create`.
    pub fn method(&self) -> &str {
        &self.0.method
    }

    /// Returns the id of the server's request, which is unique within the connection.
    pub fn id(&self) -> ServerRequestId {
        self.0.id
    }

    /// Returns the client's request for which the server needs the answer, such as a tool call.
    ///
    /// Returns `None` for a legacy server (up to revision 2025-11-25), because its requests do not name the client's request.
    pub fn request(&self) -> Option<&ClientRequest> {
        self.0.request.as_deref()
    }

    /// Returns the name of the tool for whose call the server needs the answer. `None` if [`HandlerContext::request`] is not a
    /// tool call.
    pub fn tool(&self) -> Option<&str> {
        self.request()?.tool()
    }

    /// Returns the member `_meta` of the server's request, or `None` if the request has none.
    pub fn meta(&self) -> Option<&Json> {
        self.0.meta.as_ref()
    }

    /// Returns whether the answer is no longer needed. [`HandlerContext::cancelled`] lists the reasons.
    pub fn is_cancelled(&self) -> bool {
        lock(&self.0.cancellation).is_set
    }

    /// Waits until the answer is no longer needed: the server has cancelled its request, the request of the client has
    /// ended, the connection has ended, or the handler has answered.
    ///
    /// The client then polls the handler's future once more, to let it clean up, and drops it. A handler can pass the context to
    /// other tasks and threads, which learn of the cancellation in the same way.
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

/// A future that resolves when the answer to a server's request is no longer needed. Created by [`HandlerContext::cancelled`].
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

/// Whether the answer to a server's request is no longer needed, and the wakers of the tasks that wait for this.
#[derive(Default)]
struct Cancellation {
    is_set: bool,
    waiting: Vec<Waker>,
}
