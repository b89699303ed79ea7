//! JSON as people write it by hand.

use jsonc_parser::ParseOptions;
use serde_json::Value;

/// Comments, a comma after the last of a list, and no other liberties.
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

/// JSON with comments and commas at ends, which all of these programs take or have in their files. `None` for nothing.
pub(crate) fn parse_json(text: &str) -> Option<Result<Value, String>> {
    if text.trim().is_empty() {
        return None;
    }
    Some(jsonc_parser::parse_to_serde_value::<Value>(text, &OPTIONS).map_err(|error| error.to_string()))
}
