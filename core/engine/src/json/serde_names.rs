//! The private names under which `serde_json` passes raw text and numbers through serde.

/// The struct name that `serde_json::value::RawValue` uses to read and write raw text. A test fails if `serde_json` changes the name.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// The struct name that numbers of `serde_json` use for their text, if its feature `arbitrary_precision` is enabled. A test fails if
/// `serde_json` changes the name.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";
