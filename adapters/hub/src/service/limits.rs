//! How much of a result is taken.

use mcpwire_core::CallToolResult;
use mcpwire_supervisor::ResultLimits;

use super::outcome::ToolOutcome;
use crate::config::Limits;

pub(super) fn apply(mut result: CallToolResult, limits: &Limits) -> ToolOutcome {
    // More than can be addressed is no limit.
    let size = |limit: Option<u64>| limit.and_then(|limit| usize::try_from(limit).ok());
    let limits = ResultLimits { bytes: size(limits.result_bytes), tokens: size(limits.result_tokens) };
    let truncated = limits.apply(&mut result);
    ToolOutcome { result, truncated }
}
