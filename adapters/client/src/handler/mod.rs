//! The program's code that answers requests of servers, such as `elicitation/create`.
//!
//! | file | content |
//! |---|---|
//! | `client_handler` | [`ClientHandler`]: an object that answers the requests of servers |
//! | `request_handler` | [`RequestHandler`]: answers requests of any method |
//! | `handler_context` | [`HandlerContext`]: the server, the client's request and the cancellation of a request |
//! | `handlers` | [`Handlers`]: the handlers in the options of a connection |
//! | `pending` | [`PendingAnswers`]: the requests of a server that handlers are processing |

mod client_handler;
mod handler_context;
mod handlers;
mod pending;
mod request_handler;

pub use client_handler::{ClientHandler, HandlerCapabilities};
pub use handler_context::{CancelledFuture, HandlerContext};
pub(crate) use handlers::{Handler, Handlers};
pub use pending::{ConnectionHandlers, OutgoingAnswer, PendingAnswers};
pub use request_handler::RequestHandler;

pub(crate) use client_handler::AnyClientHandler;

use std::future::Future;
use std::pin::Pin;

use mcpwire_core::{Json, RpcError};

/// The future of a handler's answer to a request, or of the error that refuses the request.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// Returns the error that refuses a request without a handler.
pub(crate) fn method_not_found() -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")
}
