//! Results that say of which type they are (2026-07-28, basic, "`ResultType`").

use crate::json::from_json::Mismatch;
use crate::text::excerpt;

/// Lets pass what is complete. An absent type is `complete`: servers of earlier revisions send none. Any other is one that
/// the method's own result cannot hold, and taken for that, it would look like an empty answer.
pub(super) fn complete(result_type: Option<&str>) -> Result<(), Mismatch> {
    match result_type {
        None | Some("complete") => Ok(()),
        Some(other) => {
            let other = excerpt(other.as_bytes());
            let reason = alloc::format!("a result of type {other:?}, which was not declared as understood").into();
            Err(Mismatch::Object { reason, name: None })
        }
    }
}
