//! [`RequestHandler`]: answers requests of servers with any method as JSON.

use std::future::Future;

use mcpwire_core::{Json, RpcError, ServerRequest};

use super::HandlerContext;

/// Answers requests of servers as JSON, for methods of extensions or of the specification. Set by
/// [`ConnectOptions::answer`](crate::ConnectOptions::answer).
///
/// Closures that return a future implement this trait.
///
/// ```
/// # mod mcpwire { pub use mcpwire_client::{ConnectOptions, HandlerContext, RequestHandler}; pub use
/// # mcpwire_core::ServerRequest; pub mod types { pub use mcpwire_core::{Json, RpcError}; } }
/// use mcpwire::{ConnectOptions, HandlerContext, RequestHandler, ServerRequest};
/// use mcpwire::types::{Json, RpcError};
///
/// struct Clock;
///
/// impl RequestHandler for Clock {
///     async fn handle(&self, _: ServerRequest, context: HandlerContext) -> Result<Json, RpcError> {
///         Ok(Json::parse(format!(r#"{{"asked_by":"{}"}}"#, context.server())).unwrap())
///     }
/// }
///
/// let options = ConnectOptions::default()
///     .answer(["vendor/clock"], Clock)
///     .answer(["vendor/none"], async |_, _| Ok(Json::parse("{}").unwrap()));
/// ```
pub trait RequestHandler: Send + Sync + 'static {
    /// Answers a request with a JSON object, or refuses the request with an error.
    ///
    /// The rules of [`ClientHandler`](crate::ClientHandler#rules) apply to the returned future.
    fn handle(
        &self,
        request: ServerRequest,
        context: HandlerContext,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send;
}

impl<F, A> RequestHandler for F
where
    F: Fn(ServerRequest, HandlerContext) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Json, RpcError>> + Send,
{
    fn handle(
        &self,
        request: ServerRequest,
        context: HandlerContext,
    ) -> impl Future<Output = Result<Json, RpcError>> + Send {
        self(request, context)
    }
}
