//! The private names under which `serde_json` passes raw text and numbers through serde.

/// Name by which `serde_json::value::RawValue` marks a serde struct whose field is raw JSON text. The name is private
/// to `serde_json`; a test fails if it changes.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Name by which `serde_json`, with its feature `arbitrary_precision`, marks a serde struct whose field is a number as
/// text. The name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";
