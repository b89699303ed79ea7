//! Checks what the user filled in against the schema of a form.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Extra, FieldSchema, FormSchema, MultiSelectSchema, NumberKind, NumberSchema, StringFormat, StringSchema};
use crate::json::from_json::{self, FromJson, type_name};
use crate::json::read::Reader;
use crate::json::{Json, scan};
use crate::printable;

/// Why an answer does not fit a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormError {
    /// The fields that are wrong, in the form's order.
    pub fields: Vec<FieldError>,
}

/// What is wrong with one field of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldError {
    /// The name of the field; empty if the answer as a whole is wrong.
    pub field: String,
    /// What is wrong with the field.
    pub problem: FieldProblem,
}

/// What can be wrong with a field of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldProblem {
    /// The field must be filled in, and is not.
    Missing,
    /// The value is of another type.
    Type {
        /// The type that the value must have.
        expected: &'static str,
        /// The type that the value has.
        found: &'static str,
    },
    /// The text is too short.
    TooShort {
        /// The minimum number of characters.
        min: u64,
    },
    /// The text is too long.
    TooLong {
        /// The maximum number of characters.
        max: u64,
    },
    /// The text does not have this format.
    Format(StringFormat),
    /// The number is too small.
    TooSmall {
        /// The minimum.
        min: f64,
    },
    /// The number is too large.
    TooLarge {
        /// The maximum.
        max: f64,
    },
    /// The value is not one of the choices.
    NotAChoice {
        /// The value.
        found: String,
    },
    /// Too few values are chosen.
    TooFew {
        /// The minimum number of values.
        min: u64,
    },
    /// Too many values are chosen.
    TooMany {
        /// The maximum number of values.
        max: u64,
    },
    /// The form does not have this field, and takes no other fields.
    Unexpected,
}

impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldProblem::Missing => f.write_str("must be filled in"),
            FieldProblem::Type { expected, found } => write!(f, "must be {expected}, not {found}"),
            FieldProblem::TooShort { min } => write!(f, "must have at least {min} character{}", plural(*min)),
            FieldProblem::TooLong { max } => write!(f, "must have at most {max} character{}", plural(*max)),
            FieldProblem::Format(StringFormat::Email) => {
                f.write_str("must be an email address, such as name@example.com")
            }
            FieldProblem::Format(StringFormat::Uri) => f.write_str("must be a URI, such as https://example.com"),
            FieldProblem::Format(StringFormat::Date) => f.write_str("must be a date, such as 2026-07-28"),
            FieldProblem::Format(StringFormat::DateTime) => {
                f.write_str("must be a date with time and zone, such as 2026-07-28T12:00:00Z")
            }
            FieldProblem::Format(other) => write!(f, "must be of the format {other}"),
            FieldProblem::TooSmall { min } => write!(f, "must be at least {min}"),
            FieldProblem::TooLarge { max } => write!(f, "must be at most {max}"),
            FieldProblem::NotAChoice { found } => write!(f, "must be one of the choices, not {}", printable(found)),
            FieldProblem::TooFew { min } => write!(f, "must have at least {min} choice{}", plural(*min)),
            FieldProblem::TooMany { max } => write!(f, "must have at most {max} choice{}", plural(*max)),
            FieldProblem::Unexpected => f.write_str("is no field of the form"),
        }
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.field {
            "" => write!(f, "the answer {}", self.problem),
            name => write!(f, "`{}` {}", printable(name), self.problem),
        }
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum number of fields in the message. Nobody reads more.
        const SHOWN: usize = 10;
        for (at, field) in self.fields.iter().take(SHOWN).enumerate() {
            write!(f, "{}{field}", if at == 0 { "" } else { "; " })?;
        }
        match self.fields.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl core::error::Error for FieldError {}
impl core::error::Error for FormError {}

impl FormSchema {
    /// Fills in the defaults of an answer, removes members that are `null`, and checks the result.
    ///
    /// `None` is a form that the user accepted as it was.
    ///
    /// ```
    /// use mcpwire_core::{FormSchema, Json};
    ///
    /// let form: FormSchema = Json::parse(r#"{"type":"object","properties":{
    ///     "name":{"type":"string","minLength":2},"age":{"type":"integer","minimum":18,"default":30}},"required":["name"]}"#)?.decode()?;
    /// assert_eq!(form.complete(Some(&Json::parse(r#"{"name":"Ada"}"#)?)).unwrap().get(), r#"{"name":"Ada","age":30}"#);
    /// let error = form.complete(Some(&Json::parse(r#"{"age":7}"#)?)).unwrap_err();
    /// assert_eq!(error.to_string(), "`name` must be filled in; `age` must be at least 18");
    /// # Ok::<(), mcpwire_core::JsonError>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong, field by field.
    pub fn complete(&self, content: Option<&Json>) -> Result<Json, FormError> {
        let content = match content {
            Some(content) if !content.is_object() && content.get() != "null" => {
                return Err(FormError { fields: alloc::vec![not_an_object(content)] });
            }
            other => other,
        };
        let content = self.with_defaults(content);
        self.validate(&content).map(|()| content)
    }

    /// Fills in the defaults of an answer, and removes members that are `null`.
    pub fn with_defaults(&self, content: Option<&Json>) -> Json {
        let given = members(content);
        let mut answer = Extra::default();
        for field in &self.properties.0 {
            let value = given.get(&*field.name).map(|value| Json::trusted(*value));
            if let Some(value) = value.or_else(|| field.schema.default_value()) {
                answer.push(&*field.name, value);
            }
        }
        let fields: BTreeSet<&str> = self.properties.0.iter().map(|field| &*field.name).collect();
        for (name, value) in given.iter().filter(|(name, _)| !fields.contains(&***name)) {
            answer.push(&**name, Json::trusted(*value));
        }
        answer.to_json()
    }

    /// Checks an answer against the form.
    ///
    /// The answer may have fields that the form does not describe, unless the form forbids it (`additionalProperties`). Their values
    /// must be of a type that answers may have.
    ///
    /// # Errors
    /// What is wrong, field by field.
    pub fn validate(&self, content: &Json) -> Result<(), FormError> {
        if !content.is_object() {
            return Err(FormError { fields: alloc::vec![not_an_object(content)] });
        }
        let given = members(Some(content));
        let required: BTreeSet<&str> = self.required.iter().map(|name| &**name).collect();
        let mut fields = Vec::new();
        let mut wrong = |field: &str, problem| fields.push(FieldError { field: field.into(), problem });
        let mut known = BTreeSet::new();
        for field in &self.properties.0 {
            known.insert(&*field.name);
            match given.get(&*field.name) {
                Some(value) => {
                    if let Err(problem) = field.schema.validate(value) {
                        wrong(&field.name, problem);
                    }
                }
                None if required.contains(&*field.name) => wrong(&field.name, FieldProblem::Missing),
                None => {}
            }
        }
        // A field may be required without being described.
        for name in required.iter().filter(|name| !known.contains(**name) && !given.contains_key(**name)) {
            wrong(name, FieldProblem::Missing);
        }
        let closed = self.extra.get("additionalProperties").is_some_and(|others| others.get() == "false");
        for (name, value) in given.iter().filter(|(name, _)| !known.contains(&***name)) {
            if closed {
                wrong(name, FieldProblem::Unexpected);
            } else if !is_allowed_at_all(value) {
                let expected = "a string, a number, a boolean or an array of strings";
                wrong(name, FieldProblem::Type { expected, found: type_name(value) });
            }
        }
        if fields.is_empty() { Ok(()) } else { Err(FormError { fields }) }
    }
}

/// Returns the members of an answer that are filled in. If a name occurs twice, the last value counts.
fn members(content: Option<&Json>) -> BTreeMap<String, &str> {
    let bytes = content.map_or(&b"{}"[..], |content| content.get().as_bytes());
    scan::members(bytes)
        .filter_map(|member| {
            let value = core::str::from_utf8(member.value).ok().filter(|value| *value != "null")?;
            Some((member.key().into_owned(), value))
        })
        .collect()
}

fn not_an_object(content: &Json) -> FieldError {
    let problem = FieldProblem::Type { expected: "an object", found: type_name(content.get()) };
    FieldError { field: String::new(), problem }
}

/// Returns whether the value is of a type that members of an answer may have (`ElicitResult`).
fn is_allowed_at_all(value: &str) -> bool {
    match value.as_bytes().first() {
        Some(b'{' | b'n') => false,
        Some(b'[') => strings(value).is_some(),
        _ => true,
    }
}

/// Returns the elements of an array of strings, or `None` for any other value.
fn strings(value: &str) -> Option<Vec<String>> {
    let mut reader = Reader::new(value);
    if reader.next_byte() != Some(b'[') {
        return None;
    }
    let mut texts = Some(Vec::new());
    let read = reader.elements(&mut |reader| {
        match String::from_json(reader)? {
            Ok(text) => texts.iter_mut().for_each(|texts| texts.push(text.clone())),
            Err(_) => texts = None,
        }
        Ok(())
    });
    read.ok().and(texts)
}

impl FieldSchema {
    /// Checks the value of a field, given as JSON text.
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
                is_choice(&schema.choices(), &from_json::from_str::<String>(value).ok_or(wrong_type("a string"))?)
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
        if self.kind == NumberKind::Integer && !is_whole(text, number) {
            return Err(wrong_type("a fraction"));
        }
        match (self.minimum, self.maximum) {
            (Some(min), _) if number < min => Err(FieldProblem::TooSmall { min }),
            (_, Some(max)) if number > max => Err(FieldProblem::TooLarge { max }),
            _ => Ok(()),
        }
    }
}

/// Returns whether a number is whole. `1.0` and `1e3` are.
fn is_whole(text: &str, number: f64) -> bool {
    // Floats beyond 2^53 have no fraction.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "floats below 2^53 without a fraction are exact integers"
    )]
    let has_no_fraction = |number: f64| (number as i64) as f64 == number;
    !text.contains(['.', 'e', 'E']) || number.abs() >= EXACT || has_no_fraction(number)
}

impl MultiSelectSchema {
    fn validate(&self, chosen: &[String]) -> Result<(), FieldProblem> {
        let count = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
        match (self.min_items, self.max_items) {
            (Some(min), _) if count < min => Err(FieldProblem::TooFew { min }),
            (_, Some(max)) if count > max => Err(FieldProblem::TooMany { max }),
            _ => {
                let choices: BTreeSet<&str> = self.choices().into_iter().map(|(value, _)| value).collect();
                let stranger = chosen.iter().find(|value| !choices.contains(&***value));
                stranger.map_or(Ok(()), |value| Err(FieldProblem::NotAChoice { found: value.clone() }))
            }
        }
    }
}

fn is_choice(choices: &[(&str, &str)], value: &str) -> Result<(), FieldProblem> {
    if choices.iter().any(|(known, _)| *known == value) {
        Ok(())
    } else {
        Err(FieldProblem::NotAChoice { found: value.into() })
    }
}
