//! Handlers: the program's code that answers requests of servers, such as `elicitation/create`.
//!
//! | file | content |
//! |---|---|
//! | `client_handler` | [`ClientHandler`]: one object that answers requests of several kinds |
//! | `request_handler` | [`RequestHandler`]: answers requests of any method |
//! | `context` | [`HandlerContext`]: what a handler knows about the request |
//! | `handlers`, `handler_set` | [`Handlers`]: all handlers of the options of a connection |
//! | `pending` | [`PendingAnswers`]: the handlers that have not answered yet |

mod client_handler;
mod context;
mod handler_set;
mod handlers;
mod pending;
mod request_handler;

pub use client_handler::{ClientHandler, HandlerCapabilities};
pub use context::{CancelledFuture, HandlerContext};
pub(crate) use handler_set::HandlerSet;
pub(crate) use handlers::{Handlers, form, named, sampling, url};
pub use pending::{ConnectionHandlers, OutgoingAnswer, PendingAnswers};
pub use request_handler::RequestHandler;

pub(crate) use client_handler::AnyClientHandler;

use std::future::Future;
use std::pin::Pin;

use mcpwire_core::{Json, RpcError};

/// The answer of a handler to one request of a server, or the error that refuses the request.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// Returns the error that refuses a request without a handler.
pub fn method_not_found() -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")
}
