//! The boxed futures of tool calls, and their cancellation.

use alloc::boxed::Box;
use alloc::format;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;

use mcpwire_types::{CallToolResult, ErrorKind, printable};

use crate::ToolError;

/// The boxed future that the methods of [`ToolClient`](crate::ToolClient) return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A future that cancels a tool call when it completes. [`CallOptions::cancel_when`](crate::CallOptions::cancel_when)
/// sets it.
pub type CancelSignal<'a> = BoxFuture<'a, ()>;

/// Makes a tool call cancellable: the returned future ends with [`ErrorKind::Cancelled`] when `cancel` completes.
/// Implementations of [`ToolClient`](crate::ToolClient) use this function. Without `cancel`, it returns `call`.
///
/// The error names the tool `name`, and `server` if the client knows it: see
/// [`ToolClient::server_name`](crate::ToolClient::server_name).
///
/// `cancel` is always polled before `call`. If the signal has already completed, the call is never started.
pub fn unless_cancelled<'a>(
    server: Option<&'a str>,
    name: &'a str,
    cancel: Option<CancelSignal<'a>>,
    call: BoxFuture<'a, Result<CallToolResult, ToolError>>,
) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
    let Some(mut cancel) = cancel else { return call };
    // The call is dropped as soon as it is cancelled, because the caller may keep the returned future for longer.
    let mut call = Some(call);
    Box::pin(poll_fn(move |cx| {
        let Some(running) = &mut call else { return Poll::Pending };
        if cancel.as_mut().poll(cx).is_ready() {
            call = None;
            let reason = format!("`tools/call` of `{}` was cancelled", printable(name));
            return Poll::Ready(Err(ToolError::of_tool(ErrorKind::Cancelled, server, name, &reason)));
        }
        running.as_mut().poll(cx)
    }))
}
