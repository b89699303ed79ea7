//! The private names under which `serde_json` passes raw text and numbers through serde.

/// The name by which `serde_json::value::RawValue` asks for raw text, and gives it. It is private to `serde_json`; a test fails
/// if it changes.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// The name by which a number of `serde_json` gives its text, with the feature `arbitrary_precision`. It is private to
/// `serde_json`; a test fails if it changes.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";
