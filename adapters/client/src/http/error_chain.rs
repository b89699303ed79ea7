//! [`error_chain`]: formats an error and its sources.

use std::error::Error;

/// Formats an error and its sources as `error: source: source of the source`, for the detail of a
/// [`Failure`](mcpwire_core::http::Failure).
///
/// Omits a source if the result already contains its text.
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = source.source();
    }
    text
}
