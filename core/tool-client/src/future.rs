//! The futures of calls and of their cancellation.

use alloc::boxed::Box;
use alloc::format;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;

use mcpwire_types::{CallToolResult, ErrorKind, printable};

use crate::ToolError;

/// A boxed future, as returned by the methods of [`ToolClient`](crate::ToolClient).
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The future of [`CallOptions::cancel_when`](crate::CallOptions::cancel_when).
pub type CancelSignal<'a> = BoxFuture<'a, ()>;

/// Returns the future of a call of the tool `name` that ends early, with [`ErrorKind::Cancelled`], when `cancel` completes.
///
/// `server` is the name of the server, if the client knows it: see [`ToolClient::server_name`](crate::ToolClient::server_name). The
/// error names both.
///
/// Both futures are polled together, and `cancel` first: a call whose signal has already completed is not sent.
pub fn unless_cancelled<'a>(
    server: Option<&'a str>,
    name: &'a str,
    cancel: Option<CancelSignal<'a>>,
    call: BoxFuture<'a, Result<CallToolResult, ToolError>>,
) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
    let Some(mut cancel) = cancel else { return call };
    // Dropped at once when cancelled, and not with the whole future, which its owner may keep.
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
