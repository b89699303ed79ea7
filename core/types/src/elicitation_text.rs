//! Parses the text that a user typed for a form field.

use alloc::string::String;
use alloc::vec::Vec;

use crate::elicitation_schema::json_of;
use crate::{FieldProblem, FieldSchema, NumberKind};
use mcpwire_text::json::Json;

impl FieldSchema {
    /// Converts the text that a user typed for a form field to a JSON value, and validates the value against this
    /// schema.
    ///
    /// - For a number, spaces around it are ignored.
    /// - For a boolean, `yes`, `y`, `true`, `on` and `1` mean `true`; `no`, `n`, `false`, `off` and `0` mean `false`.
    /// - For a list, the user types a value, a display name, or a position in the list (the first is 1). Letter case is
    ///   ignored. If the field accepts several values, commas separate them.
    /// - For a [`FieldSchema::Unknown`], the text is parsed as JSON. Text that is not JSON becomes a JSON string.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{FieldSchema, Json}; } }
    /// use mcpwire::types::{FieldSchema, Json};
    ///
    /// let color: FieldSchema = Json::parse(r##"{"type":"string","oneOf":[{"const":"#f00","title":"Red"},{"const":"#0f0","title":"Green"}]}"##)?.decode()?;
    /// assert_eq!(color.parse_text("green").unwrap().get(), r##""#0f0""##);
    /// assert_eq!(color.parse_text("1").unwrap().get(), r##""#f00""##);
    /// assert_eq!(color.parse_text("blue").unwrap_err().to_string(), "must be one of the choices, not blue");
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the reason why the text is not valid for the field.
    pub fn parse_text(&self, text: &str) -> Result<Json, FieldProblem> {
        let value = match self {
            FieldSchema::String(_) => json_of(text),
            FieldSchema::Number(schema) => number(text.trim()).ok_or(FieldProblem::Type {
                expected: if schema.kind == NumberKind::Integer { "a whole number" } else { "a number" },
                found: "text",
            })?,
            FieldSchema::Boolean(_) => {
                let wrong = FieldProblem::Type { expected: "yes or no", found: "text" };
                json_of(&yes_or_no(text.trim()).ok_or(wrong)?)
            }
            FieldSchema::Enum(schema) => json_of(choice(&schema.choices(), text.trim())?),
            FieldSchema::MultiSelect(schema) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                let choices = schema.choices();
                let mut values: Vec<&str> = Vec::new();
                for part in parts {
                    let value = choice(&choices, part)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                json_of(&values)
            }
            FieldSchema::Unknown(_) => Json::parse(text).unwrap_or_else(|_| json_of(text)),
        };
        self.validate(value.get()).map(|()| value)
    }
}

/// Converts a decimal number that the user typed to JSON, even in a notation that JSON forbids, such as `+1`, `.5` or
/// `007`. Returns `None` if `text` is not a number.
fn number(text: &str) -> Option<Json> {
    let text = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(text);
    // `f64` also parses words such as `inf`.
    if !text.starts_with(|c: char| c.is_ascii_digit() || "-.".contains(c)) {
        return None;
    }
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    Json::parse(text).ok().or_else(|| Json::from_value(&value).ok())
}

fn yes_or_no(text: &str) -> Option<bool> {
    match &*text.to_ascii_lowercase() {
        "yes" | "y" | "true" | "on" | "1" => Some(true),
        "no" | "n" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Returns the value that the user chose by typing `text`: a value, a display name, or a position in the list, counted
/// from 1.
///
/// `choices` are pairs of value and display name. An exact value takes precedence over a value or display name in other
/// letter case, and both take precedence over a position.
fn choice<'a>(choices: &[(&'a str, &'a str)], text: &str) -> Result<&'a str, FieldProblem> {
    let lower = text.to_lowercase();
    let place = || text.parse::<usize>().ok().and_then(|place| choices.get(place.checked_sub(1)?));
    choices
        .iter()
        .find(|(value, _)| *value == text)
        .or_else(|| {
            choices.iter().find(|(value, title)| title.to_lowercase() == lower || value.to_lowercase() == lower)
        })
        .or_else(place)
        .map(|(value, _)| *value)
        .ok_or_else(|| FieldProblem::NotAChoice { found: String::from(text) })
}
