//! [`CallOptions`]: the options of one tool call, such as timeouts and cancellation. [`unless_cancelled`]: makes a boxed future
//! of a tool call cancellable.

use alloc::boxed::Box;
use alloc::format;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;

use mcpwire_types::{CallToolResult, ErrorKind, Json, Progress, printable};

use crate::ToolError;

/// The callback that [`CallOptions::on_progress`] sets. It receives each progress report of the call.
pub type OnProgress<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;

/// The options of one tool call, such as timeouts, progress and cancellation. Pass them to
/// [`ToolClient::call_tool_with`](crate::ToolClient::call_tool_with).
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_tool_client::types::{CallToolResult, Json}; } pub mod tool_client { pub
/// # use mcpwire_tool_client::{CallOptions, ToolClient, ToolError}; } }
/// use std::time::Duration;
/// use mcpwire::tool_client::{CallOptions, ToolClient, ToolError};
/// use mcpwire::types::{CallToolResult, Json};
///
/// async fn build(client: &dyn ToolClient) -> Result<CallToolResult, ToolError> {
///     let mut percent = 0.0;
///     let options = CallOptions::new()
///         .timeout(Duration::from_secs(120))
///         .on_progress(|progress| percent = 100.0 * progress.fraction().unwrap_or_default());
///     client.call_tool_with("build", &Json::parse("{}").unwrap(), options).await
/// }
/// ```
///
/// # For implementors
///
/// Take the options that the client supports with the `take_` methods. Then call [`CallOptions::check_all_taken`],
/// which rejects the call if an option is left, for example an option of a later version of this crate.
/// [`unless_cancelled`] applies a cancellation signal to any call.
#[derive(Default)]
#[must_use]
pub struct CallOptions<'a> {
    timeout: Option<Duration>,
    total_timeout: Option<Duration>,
    meta: Option<Json>,
    on_progress: Option<OnProgress<'a>>,
    cancel: Option<CancelSignal<'a>>,
}

impl<'a> CallOptions<'a> {
    /// Creates options without any effect: the call has the timeouts of its client, no progress callback, no
    /// cancellation signal and no additional metadata.
    pub fn new() -> Self {
        CallOptions::default()
    }

    /// Sets the maximum time to wait for a response or a progress report of the server. Default: the timeout of the
    /// client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum total duration of the call, regardless of progress. Default: the total timeout of the client.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Sets a callback for the progress of the call, and asks the server to report progress. The callback runs in the
    /// task that polls the future of the call.
    ///
    /// The callback may never run, because servers need not report progress and some clients do not pass it on.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.on_progress = Some(Box::new(f));
        self
    }

    /// Sets a future that cancels the call when it completes, for example because the user presses a key. The call then
    /// fails with [`ErrorKind::Cancelled`].
    ///
    /// Dropping the future of the call also cancels the call.
    pub fn cancel_when(mut self, cancel: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Some(Box::pin(cancel));
        self
    }

    /// Adds members to the `_meta` of the request, for example for tracing. `meta` must be a JSON object.
    pub fn meta(mut self, meta: impl Into<Json>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// Removes and returns the maximum time without a response or progress report. `None` if it is not set: use the
    /// client's timeout.
    pub fn take_timeout(&mut self) -> Option<Duration> {
        self.timeout.take()
    }

    /// Removes and returns the maximum total duration of the call. `None` if it is not set: use the client's total
    /// timeout.
    pub fn take_total_timeout(&mut self) -> Option<Duration> {
        self.total_timeout.take()
    }

    /// Removes and returns the progress callback, or `None` if it is not set.
    pub fn take_on_progress(&mut self) -> Option<OnProgress<'a>> {
        self.on_progress.take()
    }

    /// Removes and returns the future that cancels the call, or `None` if it is not set.
    pub fn take_cancel(&mut self) -> Option<CancelSignal<'a>> {
        self.cancel.take()
    }

    /// Removes and returns the members to add to the `_meta` of the request, or `None` if it is not set.
    pub fn take_meta(&mut self) -> Option<Json> {
        self.meta.take()
    }

    /// Checks that the client has taken all options of a call of the tool `name`, so that no option is silently
    /// ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if an option is left. The message names the option.
    pub fn check_all_taken(&self, name: &str) -> Result<(), ToolError> {
        let CallOptions { timeout, total_timeout, meta, on_progress, cancel } = self;
        let left = [
            ("timeout", timeout.is_some()),
            ("total_timeout", total_timeout.is_some()),
            ("meta", meta.is_some()),
            ("on_progress", on_progress.is_some()),
            ("cancel_when", cancel.is_some()),
        ];
        match left.into_iter().find(|(_, is_left)| *is_left) {
            None => Ok(()),
            Some((option, _)) => {
                let message = format!("tool `{name}`: this client does not support the option `{option}` of a call");
                Err(ToolError::new(ErrorKind::Usage, message).with_tool(name))
            }
        }
    }
}

impl fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("total_timeout", &self.total_timeout)
            .field("meta", &self.meta)
            .finish_non_exhaustive()
    }
}

/// The boxed future that the methods of [`ToolClient`](crate::ToolClient) return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A future that cancels a tool call when it completes. [`CallOptions::cancel_when`]
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

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::future::pending;
    use core::task::{Context, Poll, Waker};

    use mcpwire_types::CallToolResult;

    use super::*;
    use crate::ToolClient;
    use crate::fake::{FakeClient, block_on};

    /// Calls a tool with the default implementation of `call_tool_with`.
    fn call(client: &FakeClient, options: CallOptions<'_>) -> Result<CallToolResult, ToolError> {
        let client: &dyn ToolClient = client;
        block_on(client.call_tool_with("t", &Json::default(), options))
    }

    #[test]
    fn an_option_that_the_default_cannot_apply_is_rejected() {
        let second = Duration::from_secs(1);
        for (option, options) in [
            ("timeout", CallOptions::new().timeout(second)),
            ("total_timeout", CallOptions::new().total_timeout(second)),
            ("meta", CallOptions::new().meta(Json::parse("{}").unwrap())),
        ] {
            let client = FakeClient::new(["t"]);
            let error = call(&client, options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains(option) && error.to_string().contains("`t`"), "{error}");
            assert!(client.called().is_empty());
        }
    }

    #[test]
    fn a_call_without_a_signal_or_with_one_that_never_comes_has_its_result() {
        let client = FakeClient::new(["t"]);
        assert_eq!(call(&client, CallOptions::new()).unwrap().text(), "t");
        let options = CallOptions::new().cancel_when(pending()).on_progress(|_| panic!("there is no progress"));
        assert_eq!(call(&client, options).unwrap().text(), "t");
    }

    #[test]
    fn a_call_whose_signal_has_come_is_not_sent() {
        let client = FakeClient::new(["t"]);
        assert_eq!(call(&client, CallOptions::new().cancel_when(async {})).unwrap_err().kind(), ErrorKind::Cancelled);
        assert!(client.called().is_empty());
    }

    #[test]
    fn a_signal_ends_a_running_call() {
        let mut client = FakeClient::new(["t"]);
        client.is_slow = true;
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let signal = poll_fn(move |_| match receiver.try_recv() {
            Ok(()) => Poll::Ready(()),
            Err(_) => Poll::Pending,
        });
        let arguments = Json::default();
        let mut call = client.call_tool_with("t", &arguments, CallOptions::new().cancel_when(signal));
        let context = &mut Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(context).is_pending());
        assert_eq!(client.called(), ["t"]);
        sender.send(()).unwrap();
        let Poll::Ready(Err(error)) = call.as_mut().poll(context) else { panic!("the call goes on") };
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!((error.server(), error.tool()), (None, Some("t")));
        assert_eq!(error.to_string(), "`tools/call` of `t` was cancelled");
    }

    #[test]
    fn the_error_of_a_cancelled_call_names_the_server_if_the_client_knows_it() {
        let mut client = FakeClient::new(["t"]);
        client.server = Some("a");
        let error = call(&client, CallOptions::new().cancel_when(async {})).unwrap_err();
        assert_eq!((error.server(), error.tool(), error.is_retryable()), (Some("a"), Some("t"), false));
        assert_eq!(error.to_string(), "server `a`: `tools/call` of `t` was cancelled");
    }
}
