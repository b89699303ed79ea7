//! [`CallOptions`] and [`ToolOutcome`]: the options and the outcome of a tool call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mcpwire_core::{CallToolResult, Progress};
use mcpwire_supervisor::{ResultLimits, Truncation};

use crate::config::Limits;
use crate::{HubError, HubErrorKind};

pub(super) type OnProgress<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;
pub(super) type CancelSignal<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Options of a tool call. The configuration of the server supplies what is not set.
#[derive(Default)]
#[must_use]
pub struct CallOptions<'a> {
    pub(super) timeout: Option<Duration>,
    pub(super) total_timeout: Option<Duration>,
    pub(super) progress: Option<OnProgress<'a>>,
    pub(super) cancel: Option<CancelSignal<'a>>,
}

impl<'a> CallOptions<'a> {
    /// Creates options of which none is set.
    pub fn new() -> Self {
        CallOptions::default()
    }

    /// Sets the maximum time to wait for the result. A progress notification restarts it.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum total duration of the call, regardless of progress. It includes the time in which the call waits
    /// for the server to start.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Sets the callback for progress notifications, and asks the server to send them.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.progress = Some(Box::new(f));
        self
    }

    /// Cancels the call when this future completes, and notifies the server. Dropping the future of the call does the same.
    pub fn cancel_when(mut self, cancel: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancel = Some(Box::pin(cancel));
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

/// The result of a tool call, within the limits of the server's configuration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The result. If the tool failed, [`CallToolResult::is_error`] is set.
    pub result: CallToolResult,
    /// The sizes before and after, if the result was too large and was truncated. A note in the text says so too.
    pub truncated: Option<Truncation>,
}

impl ToolOutcome {
    /// Creates the outcome of a result that is not truncated.
    pub fn new(result: CallToolResult) -> Self {
        ToolOutcome { result, truncated: None }
    }

    /// Truncates a result to the limits of a server's configuration.
    pub(super) fn within(mut result: CallToolResult, limits: &Limits) -> Self {
        // A limit that exceeds the address space is no limit.
        let size = |limit: Option<u64>| limit.and_then(|limit| usize::try_from(limit).ok());
        let limits = ResultLimits { bytes: size(limits.result_bytes), tokens: size(limits.result_tokens) };
        let truncated = limits.apply(&mut result);
        ToolOutcome { result, truncated }
    }

    /// Returns the text blocks of the result, separated by line breaks.
    pub fn text(&self) -> String {
        self.result.text().to_string()
    }

    /// Returns the text of the result.
    ///
    /// # Errors
    /// If the tool failed: an error of the kind [`HubErrorKind::ToolFailed`], with the text of the result.
    pub fn into_text(self) -> Result<String, HubError> {
        let text = self.text();
        if self.result.is_error { Err(HubError::new(HubErrorKind::ToolFailed, text)) } else { Ok(text) }
    }
}
