//! The private names under which `serde_json` passes raw text and numbers through serde.

/// The name of the serde struct in which `serde_json::value::RawValue` passes raw JSON text. A test fails if
/// `serde_json` changes this name.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// The name of the serde struct in which `serde_json` passes the text of a number, if its feature
/// `arbitrary_precision` is enabled. A test fails if `serde_json` changes this name.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";
