//! [`ToolOutcome`]: the result of a tool call, and whether it was truncated.

use mcpwire_core::{CallToolResult, printable};
use mcpwire_supervisor::{ResultLimits, Truncation};

use crate::config::Limits;
use crate::{ErrorKind, HubError};

/// The result of a tool call. If it exceeds the size limits in the server's configuration, the hub truncates it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolOutcome {
    /// The result that the server has returned. If the tool failed, [`CallToolResult::is_error`] is set.
    pub result: CallToolResult,
    /// The sizes of the result before and after the truncation, or `None` if the result was not truncated. The text of a
    /// truncated result also contains a note about this.
    pub truncated: Option<Truncation>,
    /// The names of the server and of the tool, for the error message if the tool failed. `None` if they are not known.
    names: Option<(Box<str>, Box<str>)>,
}

impl ToolOutcome {
    /// Creates an outcome from a result that is not truncated. For programs that implement [`McpService`](super::McpService)
    /// themselves.
    pub fn new(result: CallToolResult) -> Self {
        ToolOutcome { result, truncated: None, names: None }
    }

    /// Creates an outcome from a result, and truncates the result if it exceeds `limits`, the size limits in the server's
    /// configuration.
    pub(super) fn within(mut result: CallToolResult, limits: &Limits) -> Self {
        // A limit that does not fit into `usize` is larger than the address space, so it is no limit.
        let size = |limit: Option<u64>| limit.and_then(|limit| usize::try_from(limit).ok());
        let limits = ResultLimits { bytes: size(limits.result_bytes), tokens: size(limits.result_tokens) };
        let truncated = limits.apply(&mut result);
        ToolOutcome { result, truncated, names: None }
    }

    pub(super) fn of_tool(mut self, server: &str, tool: &str) -> Self {
        self.names = Some((server.into(), tool.into()));
        self
    }

    /// Returns the text blocks of the result, joined by line breaks. Empty if the result has no text.
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
