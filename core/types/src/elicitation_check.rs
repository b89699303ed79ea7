//! Validates the values of a filled-in form against the form's schema.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{FieldSchema, FormSchema, MultiSelectSchema, NumberKind, NumberSchema, StringFormat, StringSchema};
use mcpwire_text::json::from_json::{self, type_name};
use mcpwire_text::json::object::to_json;
use mcpwire_text::json::{Extra, ItemList, Json, JsonText, scan};
use mcpwire_text::printable;

/// The error for a filled-in form with values that violate the form's schema.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", problems(fields))]
#[non_exhaustive]
pub struct FormError {
    /// The invalid fields and the reasons. The fields of the form come first, in the form's order. Fields that the form
    /// does not define follow.
    pub fields: Vec<FieldError>,
}

/// An invalid field of a filled-in form.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} {problem}", subject(field))]
#[non_exhaustive]
pub struct FieldError {
    /// Name of the invalid form field. Empty if the error concerns the whole form, because its values are not a JSON
    /// object.
    pub field: String,
    /// The reason why the field is invalid.
    pub problem: FieldProblem,
}

/// The reason why a form field is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// The form requires a value for this field, but the field has none.
    #[error("must be filled in")]
    Missing,
    /// The value does not have the type that the form field requires.
    #[error("must be {expected}, not {found}")]
    Type {
        /// The type that the form field requires, worded for an error message, such as `a whole number`.
        expected: &'static str,
        /// The type of the invalid value, worded for an error message, such as `a string`.
        found: &'static str,
    },
    /// The text has fewer characters than the form field requires.
    #[error("must have at least {min} character{}", plural(*min))]
    TooShort {
        /// Minimum length of the text, in characters.
        min: u64,
    },
    /// The text has more characters than the form field allows.
    #[error("must have at most {max} character{}", plural(*max))]
    TooLong {
        /// Maximum length of the text, in characters.
        max: u64,
    },
    /// The text does not have the [`StringFormat`] that the form field requires.
    #[error("must {}", expected_format(.0))]
    Format(StringFormat),
    /// The number is below the minimum of the form field.
    #[error("must be at least {min}")]
    TooSmall {
        /// Minimum value that the form field allows.
        min: f64,
    },
    /// The number is above the maximum of the form field.
    #[error("must be at most {max}")]
    TooLarge {
        /// Maximum value that the form field allows.
        max: f64,
    },
    /// The value is not one of the choices of the form field.
    #[error("must be one of the choices, not {}", printable(found))]
    NotAChoice {
        /// The value that is not one of the choices.
        found: String,
    },
    /// The user selected fewer values than the form field requires.
    #[error("must have at least {min} choice{}", plural(*min))]
    TooFew {
        /// Minimum number of values that the user must select.
        min: u64,
    },
    /// The user selected more values than the form field allows.
    #[error("must have at most {max} choice{}", plural(*max))]
    TooMany {
        /// Maximum number of values that the user may select.
        max: u64,
    },
    /// The form does not define a field with this name, and its schema forbids additional fields
    /// (`additionalProperties` is `false`).
    #[error("is not a field of the form")]
    Unexpected,
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn expected_format(format: &StringFormat) -> Cow<'static, str> {
    match format {
        StringFormat::Email => "be an email address, such as name@example.com".into(),
        StringFormat::Uri => "be a URI, such as https://example.com".into(),
        StringFormat::Date => "be a date, such as 2026-07-28".into(),
        StringFormat::DateTime => "be a date with time and zone, such as 2026-07-28T12:00:00Z".into(),
        other => alloc::format!("be of the format {other}").into(),
    }
}

fn subject(field: &str) -> String {
    if field.is_empty() { "the answer".into() } else { alloc::format!("`{}`", printable(field)) }
}

fn problems(fields: &[FieldError]) -> String {
    /// Maximum number of fields that the error message describes, so that the message stays readable.
    const SHOWN: usize = 10;
    let mut problems: Vec<String> = fields.iter().take(SHOWN).map(ToString::to_string).collect();
    if let more @ 1.. = fields.len().saturating_sub(SHOWN) {
        problems.push(alloc::format!("and {more} more"));
    }
    problems.join("; ")
}

impl FormSchema {
    /// Adds default values to the values of a filled-in form, then validates all values against this schema.
    ///
    /// `content` maps field names to values; `None` means that the user filled in nothing. A field that is absent or
    /// `null` receives its default value. Without a default value, it is left out.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{FormSchema, Json}; } }
    /// use mcpwire::types::{FormSchema, Json};
    ///
    /// let form: FormSchema = Json::parse(r#"{"type":"object","properties":{
    ///     "name":{"type":"string","minLength":2},"age":{"type":"integer","minimum":18,"default":30}},"required":["name"]}"#)?.decode()?;
    /// assert_eq!(form.complete(Some(&Json::parse(r#"{"name":"Ada"}"#)?)).unwrap().get(), r#"{"name":"Ada","age":30}"#);
    /// let error = form.complete(Some(&Json::parse(r#"{"age":7}"#)?)).unwrap_err();
    /// assert_eq!(error.to_string(), "`name` must be filled in; `age` must be at least 18");
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// Returns the invalid fields, each with the reason why it is invalid.
    pub fn complete(&self, content: Option<&Json>) -> Result<Json, FormError> {
        let content = content.filter(|content| content.get() != "null");
        content.map_or(Ok(()), check_object)?;
        let content = self.with_defaults(content);
        self.validate(&content).map(|()| content)
    }

    /// Adds the form's default values to the values that the user filled in, but does not validate them.
    ///
    /// `content` is a JSON object that maps field names to values; `None` means that the user filled in nothing. The
    /// returned JSON object contains the fields in the order of the form, then the members of `content` that the form
    /// does not define.
    pub fn with_defaults(&self, content: Option<&Json>) -> Json {
        let mut given = members(content);
        let mut answer = Extra::default();
        for field in &self.properties.0 {
            let value = given.remove(&*field.name).map(Json::trusted);
            if let Some(value) = value.or_else(|| field.schema.default_value()) {
                answer.push(&*field.name, value);
            }
        }
        for (name, value) in given {
            answer.push(name, Json::trusted(value));
        }
        to_json(&answer)
    }

    /// Validates the values of a filled-in form against this schema.
    ///
    /// `content` is a JSON object that maps field names to values. A field that is `null` counts as absent. Fields that
    /// the schema does not define are valid if their values are strings, numbers, booleans or arrays of strings, unless
    /// `additionalProperties` is `false`.
    ///
    /// # Errors
    /// Returns the invalid fields, each with the reason why it is invalid.
    pub fn validate(&self, content: &Json) -> Result<(), FormError> {
        check_object(content)?;
        let given = members(Some(content));
        let mut fields = Vec::new();
        let mut wrong = |field: &str, problem| fields.push(FieldError { field: field.into(), problem });
        let mut known = BTreeSet::new();
        for (field, is_required) in self.fields() {
            known.insert(&*field.name);
            match given.get(&*field.name).map(|value| field.schema.validate(value)) {
                Some(Err(problem)) => wrong(&field.name, problem),
                None if is_required => wrong(&field.name, FieldProblem::Missing),
                Some(Ok(())) | None => {}
            }
        }
        // A schema may require a field that it does not describe.
        let required: BTreeSet<&str> = self.required.iter().map(|name| &**name).collect();
        for name in required.iter().filter(|name| !known.contains(**name) && !given.contains_key(**name)) {
            wrong(name, FieldProblem::Missing);
        }
        let closed = self.extra.get("additionalProperties").is_some_and(|others| others.get() == "false");
        for (name, value) in given.iter().filter(|(name, _)| !known.contains(&***name)) {
            if closed {
                wrong(name, FieldProblem::Unexpected);
            } else if !is_allowed_type(value) {
                let expected = "a string, a number, a boolean or an array of strings";
                wrong(name, FieldProblem::Type { expected, found: type_name(value) });
            }
        }
        if fields.is_empty() { Ok(()) } else { Err(FormError { fields }) }
    }
}

/// Returns the JSON text of each form value by field name, without values that are `null`.
fn members(content: Option<&Json>) -> BTreeMap<String, &str> {
    let bytes = content.map_or(&b"{}"[..], |content| content.get().as_bytes());
    scan::members(bytes)
        .filter_map(|member| {
            let value = core::str::from_utf8(member.value).ok().filter(|value| *value != "null")?;
            Some((member.key().into_owned(), value))
        })
        .collect()
}

fn check_object(content: &Json) -> Result<(), FormError> {
    if content.is_object() {
        return Ok(());
    }
    let problem = FieldProblem::Type { expected: "an object", found: type_name(content.get()) };
    Err(FormError { fields: alloc::vec![FieldError { field: String::new(), problem }] })
}

/// Returns whether the specification allows this JSON value in a filled-in form: a string, a number, a boolean or an
/// array of strings.
fn is_allowed_type(value: &str) -> bool {
    match value.as_bytes().first() {
        Some(b'{' | b'n') => false,
        Some(b'[') => strings(value).is_some(),
        _ => true,
    }
}

/// Returns the elements of a JSON array of strings, or `None` for any other value.
fn strings(value: &str) -> Option<Vec<String>> {
    let list: ItemList<String> = from_json::from_str(value)?;
    list.rejected.is_empty().then_some(list.items)
}

impl FieldSchema {
    /// Validates `value`, the JSON text of a form field's value, against this schema.
    pub(crate) fn validate(&self, value: &str) -> Result<(), FieldProblem> {
        let wrong_type = |expected| FieldProblem::Type { expected, found: type_name(value) };
        match self {
            FieldSchema::String(schema) => {
                schema.validate(&from_json::from_str::<String>(value).ok_or(wrong_type("a string"))?)
            }
            FieldSchema::Number(schema) => schema.validate(value),
            FieldSchema::Boolean(_) if matches!(value, "true" | "false") => Ok(()),
            FieldSchema::Boolean(_) => Err(wrong_type("true or false")),
            FieldSchema::Enum(schema) => {
                let value: String = from_json::from_str(value).ok_or(wrong_type("a string"))?;
                check_choice(schema.choices().iter().any(|(known, _)| *known == value), &value)
            }
            FieldSchema::MultiSelect(schema) => {
                schema.validate(&strings(value).ok_or(wrong_type("an array of strings"))?)
            }
            FieldSchema::Unknown(_) => Ok(()),
        }
    }
}

impl StringSchema {
    fn validate(&self, text: &str) -> Result<(), FieldProblem> {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        match (self.min_length, self.max_length, &self.format) {
            (Some(min), ..) if length < min => Err(FieldProblem::TooShort { min }),
            (_, Some(max), _) if length > max => Err(FieldProblem::TooLong { max }),
            (_, _, Some(format)) if !format.matches(text) => Err(FieldProblem::Format(format.clone())),
            _ => Ok(()),
        }
    }
}

impl NumberSchema {
    fn validate(&self, text: &str) -> Result<(), FieldProblem> {
        let expected = if self.kind == NumberKind::Integer { "a whole number" } else { "a number" };
        let wrong_type = |found| FieldProblem::Type { expected, found };
        let number: f64 = from_json::from_str(text).ok_or(wrong_type(type_name(text)))?;
        if self.kind == NumberKind::Integer && number % 1.0 != 0.0 {
            return Err(wrong_type("a fraction"));
        }
        match (self.minimum, self.maximum) {
            (Some(min), _) if number < min => Err(FieldProblem::TooSmall { min }),
            (_, Some(max)) if number > max => Err(FieldProblem::TooLarge { max }),
            _ => Ok(()),
        }
    }
}

impl MultiSelectSchema {
    fn validate(&self, chosen: &[String]) -> Result<(), FieldProblem> {
        let count = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
        match (self.min_items, self.max_items) {
            (Some(min), _) if count < min => Err(FieldProblem::TooFew { min }),
            (_, Some(max)) if count > max => Err(FieldProblem::TooMany { max }),
            _ => {
                let choices: BTreeSet<&str> = self.choices().into_iter().map(|(value, _)| value).collect();
                chosen.iter().try_for_each(|value| check_choice(choices.contains(&**value), value))
            }
        }
    }
}

fn check_choice(is_choice: bool, value: &str) -> Result<(), FieldProblem> {
    if is_choice { Ok(()) } else { Err(FieldProblem::NotAChoice { found: value.into() }) }
}
