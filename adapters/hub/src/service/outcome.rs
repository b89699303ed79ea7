//! What a call may have of its own, and what comes of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mcpwire_core::{CallToolResult, Progress};
use mcpwire_supervisor::Truncation;

type OnProgress<'a> = Box<dyn FnMut(&Progress) + Send + 'a>;
type Cancel<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// What a call may have of its own. Whatever is not set is as the server's configuration says.
#[derive(Default)]
#[must_use]
pub struct CallOptions<'a> {
    pub(super) timeout: Option<Duration>,
    pub(super) total_timeout: Option<Duration>,
    pub(super) progress: Option<OnProgress<'a>>,
    pub(super) cancel: Option<Cancel<'a>>,
}

impl<'a> CallOptions<'a> {
    /// Nothing of its own.
    pub fn new() -> Self {
        CallOptions::default()
    }

    /// How long the answer may take, counted from the call or from its last progress.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long the answer may take at all.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Who is told of progress. The server is asked to report it.
    pub fn on_progress(mut self, f: impl FnMut(&Progress) + Send + 'a) -> Self {
        self.progress = Some(Box::new(f));
        self
    }

    /// When this future is done, the call is cancelled, and the server told. Dropping the call does the same.
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

/// What came of a call: the whole result, within the limits of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The result. That the tool failed is [`CallToolResult::is_error`].
    pub result: CallToolResult,
    /// What was cut off, if the result was larger than the server's configuration allows. It says so in its text, too.
    pub truncated: Option<Truncation>,
}

impl ToolOutcome {
    /// The text of the result: its text blocks, a line break between them.
    pub fn text(&self) -> String {
        self.result.text().to_string()
    }
}
