//! [`CallOptions`] and [`ToolOutcome`] are the options and the outcome of a tool call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mcpwire_core::{CallToolResult, Json, Progress, printable};
use mcpwire_supervisor::{ResultLimits, Truncation};

use crate::config::Limits;
use crate::{ErrorKind, HubError};

pub(super) type OnProgress<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;
pub(super) type CancelSignal<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// The options of a tool call. For timeouts that are not set, the configuration of the server applies.
#[derive(Default)]
#[must_use]
pub struct CallOptions<'a> {
    pub(super) timeout: Option<Duration>,
    pub(super) total_timeout: Option<Duration>,
    pub(super) progress: Option<OnProgress<'a>>,
    pub(super) cancel: Option<CancelSignal<'a>>,
    pub(super) meta: Option<Json>,
}

impl<'a> CallOptions<'a> {
    /// Creates options that change nothing: the call has the timeouts in the configuration of the server, no progress callback, no
    /// cancellation, and no additional metadata.
    pub fn new() -> Self {
        CallOptions::default()
    }

    /// Sets the maximum time to wait for the result of the call. Each progress notification from the server restarts
    /// this time.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum total duration of the call. Progress notifications do not extend this duration. It includes the
    /// time in which the call waits for the server to start.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Sets the callback for progress notifications about this call, and asks the server to send such notifications.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.progress = Some(Box::new(f));
        self
    }

    /// Cancels the call when the future `cancel` completes, and notifies the server of the cancellation. Dropping the
    /// future of the call has the same effect.
    pub fn cancel_when(mut self, cancel: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Some(Box::pin(cancel));
        self
    }

    /// Adds members to the `_meta` of the request. `meta` must be an object.
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}

impl fmt::Debug for CallOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("total_timeout", &self.total_timeout)
            .finish_non_exhaustive()
    }
}

/// The result of a tool call. A result that exceeds the size limits in the server's configuration is truncated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The result that the server returned. If the tool failed, [`CallToolResult::is_error`] is set.
    pub result: CallToolResult,
    /// The sizes of the result before and after truncation, or `None` if the result was small enough. A note in the
    /// text of a truncated result also reports the truncation.
    pub truncated: Option<Truncation>,
    /// The names of the server and of the tool, for the error of a tool that failed. `None` if they are not known.
    names: Option<(Box<str>, Box<str>)>,
}

impl ToolOutcome {
    /// Creates an outcome from a result that was not truncated.
    pub fn new(result: CallToolResult) -> Self {
        ToolOutcome { result, truncated: None, names: None }
    }

    /// Creates an outcome from a result. If the result exceeds the size limits in the server's configuration, it is
    /// truncated.
    pub(super) fn within(mut result: CallToolResult, limits: &Limits) -> Self {
        // A limit that exceeds the address space is no limit.
        let size = |limit: Option<u64>| limit.and_then(|limit| usize::try_from(limit).ok());
        let limits = ResultLimits { bytes: size(limits.result_bytes), tokens: size(limits.result_tokens) };
        let truncated = limits.apply(&mut result);
        ToolOutcome { result, truncated, names: None }
    }

    pub(super) fn of_tool(mut self, server: &str, tool: &str) -> Self {
        self.names = Some((server.into(), tool.into()));
        self
    }

    /// Returns the text blocks of the result, joined by line breaks.
    pub fn text(&self) -> String {
        self.result.text().to_string()
    }

    /// Returns the text blocks of the result, joined by line breaks, or an error if the tool failed.
    ///
    /// # Errors
    /// [`ErrorKind::Tool`] with the text of the result, if the tool failed.
    pub fn into_text(self) -> Result<String, HubError> {
        let text = self.text();
        if !self.result.is_error {
            return Ok(text);
        }
        let text = if text.is_empty() { "(empty)" } else { &text };
        let failed = |message| HubError::new(ErrorKind::Tool, message);
        Err(match self.names {
            None => failed(format!("the tool failed: {text}")),
            Some((server, tool)) => {
                let message = format!("tool `{}`: the tool failed: {text}", printable(&tool));
                failed(message).with_server(&server).with_tool(&tool)
            }
        })
    }
}
