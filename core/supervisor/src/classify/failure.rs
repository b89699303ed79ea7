//! Builds failures that quote what a server says.

use alloc::format;
use alloc::string::String;

use crate::{ErrorCode, ErrorContract, Failure, Retry};
use mcpwire_core::printable;

/// Maximum length of quoted server output, in bytes: about one log line, without a stack trace.
const MAX_QUOTE: usize = 300;

/// Quotes foreign text: truncated, on one line, and without control characters.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    for c in format!("{}", printable(text.trim())).chars() {
        if out.len() + c.len_utf8() > MAX_QUOTE {
            out.push('…');
            break;
        }
        out.push(if c == '\n' || c == '\t' { ' ' } else { c });
    }
    out
}

pub(super) fn failure_at(code: ErrorCode, field: &str, text: String, retry: Retry) -> Failure {
    Failure::new(ErrorContract::new(code, text).at(field), retry)
}
