//! Progress, in a form that tests can compare.

use mcpwire_blocking::protocol::{Number, Progress};

/// The progress and the total of a progress notification.
pub fn done_of_total(progress: &Progress) -> (f64, Option<f64>) {
    (progress.progress.as_f64(), progress.total.as_ref().map(Number::as_f64))
}
