//! Parses JSON with comments.

use jsonc_parser::ParseOptions;
use serde_json::Value;

/// Options of the JSON parser. They allow comments and trailing commas, and otherwise require standard JSON.
pub(crate) const OPTIONS: ParseOptions = ParseOptions {
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
    Some(jsonc_parser::parse_to_serde_value::<Value>(text, &OPTIONS).map_err(|error| error.to_string()))
}
