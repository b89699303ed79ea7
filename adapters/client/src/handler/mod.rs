//! Handlers: code of the program that answers requests of servers, such as `elicitation/create`.
//!
//! | file | content |
//! |---|---|
//! | `client_handler` | [`ClientHandler`]: an object that answers the requests of servers |
//! | `request_handler` | [`RequestHandler`]: answers requests with any method as JSON |
//! | `handler_context` | [`HandlerContext`]: tells a handler which server asks, and when the answer is no longer needed |
//! | `handlers` | [`Handlers`]: the handlers that the program has set in the options of a connection |
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

/// The future of a handler. It resolves to the answer to the server's request, or to the error with which the request is refused.
pub(crate) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// Creates the error with which the client refuses a request that no handler answers (-32601).
pub(crate) fn method_not_found() -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")
}
