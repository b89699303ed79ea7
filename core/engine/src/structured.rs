//! Structured content of tool results (2026-07-28, server/tools, "Structured Content"): decoding it into a type of the program, and
//! checking it against the tool's output schema ("Output Schema").

use alloc::string::String;

use serde::Deserialize;

use crate::error::PeerError;
use crate::json::{self, Json};
use crate::printable;
use crate::text::excerpt;
use crate::types::{CallToolResult, Tool};

impl CallToolResult {
    /// Decodes the structured content into a type of the program.
    ///
    /// ```
    /// use mcpwire_core::{CallToolResult, Json};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Weather { temperature: f64 }
    ///
    /// let result = r#"{"content":[],"structuredContent":{"temperature":22.5,"conditions":"Partly cloudy"}}"#;
    /// let result: CallToolResult = Json::parse(result)?.decode()?;
    /// assert_eq!(result.structured::<Weather>()?.temperature, 22.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`StructuredErrorKind::Absent`] if the result has no structured content, as most results of failed tools;
    /// [`StructuredErrorKind::Mismatch`] if the content does not fit the type.
    pub fn structured<'a, T: Deserialize<'a>>(&'a self) -> Result<T, StructuredError> {
        let Some(content) = &self.structured_content else { return Err(self.unstructured()) };
        json::from_str(content.get()).map_err(|error| {
            StructuredError::new(StructuredErrorKind::Mismatch(PeerError::from_read(&error, content.get().as_bytes())))
        })
    }

    #[cold]
    fn unstructured(&self) -> StructuredError {
        let said = excerpt(self.text().as_str().as_bytes());
        StructuredError::new(StructuredErrorKind::Absent { failed: self.is_error, said })
    }
}

/// The error of structured content that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", prefix(tool))]
#[non_exhaustive]
pub struct StructuredError {
    /// The name of the tool; empty if it is unknown, as in errors of [`CallToolResult::structured`].
    pub tool: String,
    /// What is wrong with the content.
    pub kind: StructuredErrorKind,
}

/// What can be wrong with structured content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredErrorKind {
    /// The result has no structured content.
    #[error("{} has no structured content; it says: {said}", if *failed { "the tool failed, and" } else { "the result" })]
    Absent {
        /// Whether the tool reported an error.
        failed: bool,
        /// The start of the text of the result, without control characters.
        said: String,
    },
    /// The content does not fit the requested type. The error says where, what was expected, and what was found.
    #[error("the structured content is not what was expected: {0}")]
    Mismatch(PeerError),
    /// The content does not match the tool's output schema, or the schema is invalid.
    #[error("{0}")]
    Invalid(ValidationError),
}

impl StructuredError {
    fn new(kind: StructuredErrorKind) -> Self {
        StructuredError { tool: String::new(), kind }
    }

    /// Adds the name of the tool to the error.
    pub fn of_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }
}

fn prefix(tool: &str) -> String {
    if tool.is_empty() { String::new() } else { alloc::format!("tool `{}`: ", printable(tool)) }
}

/// Checks JSON values against JSON Schemas. The crate `mcpwire-jsonschema` has an implementation.
///
/// A schema without `$schema` uses the dialect 2020-12 (2026-07-28, basic, "JSON Schema Usage"). Both the schema and the value
/// come from the server, so an implementation must bound the cost of a check and must not fetch the targets of `$ref`.
pub trait Validator {
    /// Checks `value` against `schema`.
    ///
    /// # Errors
    /// [`ValidationError::Value`] if the value does not match, [`ValidationError::Schema`] if the schema cannot be used.
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), ValidationError>;
}

/// The reason why a [`Validator`] rejected a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// The schema is invalid or too costly. The value was not checked.
    #[error("the schema cannot be used: {}", bounded(reason))]
    Schema {
        /// What is wrong with the schema.
        reason: String,
    },
    /// The value does not match the schema.
    #[error("the value does not fit its schema{}: {}", place(at), bounded(reason))]
    Value {
        /// The JSON pointer (RFC 6901) of the part that does not match; empty if it is the whole value.
        at: String,
        /// What is wrong with that part.
        reason: String,
    },
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{}`", bounded(at)) }
}

/// Bounds and cleans the text of a validator, which may quote a value of the server.
fn bounded(text: &str) -> String {
    excerpt(text.as_bytes())
}

impl Tool {
    /// Checks the structured content of a result against the tool's output schema.
    ///
    /// A tool without an output schema, and a result of a failed call, always pass.
    ///
    /// # Errors
    /// [`StructuredErrorKind::Absent`] if there is no structured content; [`StructuredErrorKind::Invalid`] if it does not
    /// match, or if the schema is invalid. The text of the result remains usable.
    pub fn check_output(&self, result: &CallToolResult, validator: &dyn Validator) -> Result<(), StructuredError> {
        let Some(schema) = self.output_schema.as_ref().filter(|_| !result.is_error) else { return Ok(()) };
        let Some(content) = &result.structured_content else {
            return Err(result.unstructured().of_tool(&*self.name));
        };
        validator
            .validate(schema, content)
            .map_err(|invalid| StructuredError::new(StructuredErrorKind::Invalid(invalid)).of_tool(&*self.name))
    }
}
