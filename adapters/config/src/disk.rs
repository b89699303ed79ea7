//! The files that a hub stores and imports: their errors, and JSON with comments.

use std::io;
use std::path::Path;

use jsonc_parser::ParseOptions;
use mcpwire_files::FileError;
use serde_json::Value;

use crate::HubError;

/// Checks that this program knows the format version of a file, before it uses or replaces the file.
///
/// # Errors
/// Returns an error if `version` is greater than `known`, the version that this program writes.
pub fn check_version(path: &Path, version: u64, known: u64) -> Result<(), HubError> {
    if version <= known {
        return Ok(());
    }
    Err(HubError::unavailable(format!(
        "{} has version {version}, which this program does not know; use a later version of this program, or remove the file",
        path.display()
    )))
}

/// Creates the error for a failed operation on the file `path`. `what` is the participle of the operation, such as "read".
pub fn unavailable(what: &'static str, path: &Path, error: &io::Error) -> HubError {
    HubError::unavailable(FileError::new(what, path, error).to_string())
}

/// Options of the JSON parser. They allow comments and trailing commas, and otherwise require standard JSON.
pub(crate) const JSON_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses JSON that may contain comments and trailing commas, as in configuration files of editors. Returns `None` if the text
/// is empty or only white space.
pub(crate) fn parse_json(text: &str) -> Option<Result<Value, String>> {
    if text.trim().is_empty() {
        return None;
    }
    Some(jsonc_parser::parse_to_serde_value::<Value>(text, &JSON_OPTIONS).map_err(|error| error.to_string()))
}
