//! Builds failures whose messages quote the output of a server.

use alloc::format;
use alloc::string::String;

use crate::{ErrorCode, Failure, HubError, Retry};
use mcpwire_core::{ErrorKind, printable};

/// Maximum length of the server output in an error message, in bytes. 300 bytes have room for one long log line.
const MAX_QUOTE: usize = 300;

/// Returns untrusted text for use in an error message: on one line, without control characters, and truncated to 300
/// bytes.
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

pub(super) fn failure_at_field(kind: ErrorKind, field: &str, text: String, retry: Retry) -> Failure {
    let mut error = HubError::new(kind, text).at(field);
    if kind == ErrorKind::Start {
        // Package managers report that they do not find the program that the package needs.
        error = error.with_code(ErrorCode::NotFound);
    }
    Failure::new(error, retry)
}
