//! The private names under which `serde_json` passes raw text and numbers through serde.

/// Name under which `serde_json::value::RawValue` passes raw JSON text through serde, in a struct with one field. The
/// name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Name under which `serde_json`, with its feature `arbitrary_precision`, passes the text of a number through serde, in
/// a struct with one field. The name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";
