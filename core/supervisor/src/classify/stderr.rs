//! Finds error lines and the names of missing variables in the standard error of servers, and quotes text of servers.

use alloc::string::{String, ToString};

use mcpwire_core::printable;

/// Maximum length of the server output in an error message, in bytes. 300 bytes have room for one long log line.
const MAX_QUOTE: usize = 300;

/// Returns untrusted text for use in an error message: on one line, without control characters, and truncated to 300
/// bytes.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::new();
    for c in printable(text.trim()).to_string().chars() {
        if out.len() + c.len_utf8() > MAX_QUOTE {
            out.push('…');
            break;
        }
        out.push(if matches!(c, '\n' | '\t') { ' ' } else { c });
    }
    out
}

/// Returns the line of `stderr` that best explains a failure: the last line that looks like an error message, or else
/// the last line outside a stack trace, or else the last line.
///
/// The error is often not the last line, because a stack trace or the advice of a package manager may follow. Returns
/// `None` if all lines are blank.
pub(super) fn error_line(stderr: &str) -> Option<&str> {
    let lines = || stderr.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    lines().find(|line| is_error(line)).or_else(|| lines().find(|line| !is_trace(line))).or_else(|| lines().next())
}

fn is_error(line: &str) -> bool {
    const ERROR_MARKERS: [&str; 8] =
        ["Error: ", "Error [", "error: ", "ERROR: ", "FATAL ERROR", "panicked at", "Exception: ", "fatal: "];
    ERROR_MARKERS.iter().any(|marker| line.contains(marker)) && !is_trace(line)
}

fn is_trace(line: &str) -> bool {
    line.starts_with("at ") || line.starts_with("Node.js v") || matches!(line, "}" | "{" | "^")
}

/// Returns the name of an environment variable that `stderr` reports as missing, or `None` if there is none.
///
/// The name must end like the name of a secret, for example in `TOKEN`, and its line must contain a word such as
/// `required`. With a weaker condition, the user could be asked for a variable that the server does not need.
pub(super) fn missing_credential(stderr: &str) -> Option<&str> {
    const SECRET_SUFFIXES: [&str; 8] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "PAT", "AUTH", "API_ID"];
    const MISSING_WORDS: [&str; 11] = [
        "required",
        "missing",
        "not set",
        "must be set",
        "not defined",
        "not provided",
        "not found",
        "unset",
        "please set",
        "please provide",
        "undefined",
    ];
    stderr.lines().rev().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        if !MISSING_WORDS.iter().any(|word| lower.contains(word)) {
            return None;
        }
        line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| {
            let upper = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
            upper && word.contains('_') && SECRET_SUFFIXES.iter().any(|suffix| word.ends_with(suffix))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_line_is_found() {
        for (stderr, expected) in [
            ("", None),
            ("\n  \n", None),
            ("just a line\n", Some("just a line")),
            ("starting\nError: no\n    at [eval]:1:7\n\nNode.js v20.20.2\n", Some("Error: no")),
            (
                "Traceback (most recent call last):\n  File \"x\"\nRuntimeError: no database\n",
                Some("RuntimeError: no database"),
            ),
            ("thread 'main' panicked at src/main.rs:1:1:\nboom", Some("thread 'main' panicked at src/main.rs:1:1:")),
        ] {
            assert_eq!(error_line(stderr), expected, "{stderr}");
        }
    }

    #[test]
    fn a_credential_is_missing_only_if_its_line_says_so() {
        for (stderr, expected) in [
            ("Error: GITHUB_TOKEN is required", Some("GITHUB_TOKEN")),
            ("Please set the BRAVE_API_KEY environment variable", Some("BRAVE_API_KEY")),
            ("using GITHUB_TOKEN", None),
            ("a file is required", None),
            ("LOG_LEVEL is required", None),
            ("error: MODULE_NOT_FOUND", None),
        ] {
            assert_eq!(missing_credential(stderr), expected, "{stderr}");
        }
    }
}
