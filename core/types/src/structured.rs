//! Structured content of tool results (specification: server/tools, "Structured Content"). Decodes the content into a
//! type of the program, and checks it against the tool's output schema ("Output Schema").

use alloc::string::String;

use serde::Deserialize;

use crate::error::PeerError;
use crate::json::{self, Json};
use crate::printable;
use crate::text::excerpt;
use crate::{CallToolResult, Tool};

impl CallToolResult {
    /// Decodes the structured content of the result into the type `T` of the caller.
    ///
    /// ```
    /// use mcpwire_types::{CallToolResult, Json};
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
    /// [`StructuredErrorKind::Absent`] if the result has no structured content, which is usual for failed tools.
    /// [`StructuredErrorKind::Mismatch`] if the content does not fit the type `T`.
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

/// The error for a tool result whose structured content is missing or invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", prefix(tool))]
#[non_exhaustive]
pub struct StructuredError {
    /// The name of the tool. Empty if unknown, as in errors of [`CallToolResult::structured`].
    pub tool: String,
    /// Whether the structured content is missing, of the wrong type, or invalid for its schema.
    pub kind: StructuredErrorKind,
}

/// Why the structured content of a tool result cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredErrorKind {
    /// The result has no structured content.
    #[error("{} has no structured content; it says: {said}", if *failed { "the tool failed, and" } else { "the result" })]
    Absent {
        /// Whether the tool reported a failure (`isError: true`).
        failed: bool,
        /// The first 200 bytes of the text of the result, without control characters.
        said: String,
    },
    /// The structured content does not fit the type that the program requested. The error contains the position, the
    /// expected and the found type.
    #[error("the structured content is not what was expected: {0}")]
    Mismatch(PeerError),
    /// The structured content does not match the tool's output schema, or the schema is invalid.
    #[error("{0}")]
    Invalid(ValidationError),
}

impl StructuredError {
    fn new(kind: StructuredErrorKind) -> Self {
        StructuredError { tool: String::new(), kind }
    }

    /// Sets the name of the tool, which the error message then shows.
    pub fn of_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }
}

fn prefix(tool: &str) -> String {
    if tool.is_empty() { String::new() } else { alloc::format!("tool `{}`: ", printable(tool)) }
}

/// Checks JSON values against a JSON Schema. The crate `mcpwire-jsonschema` contains an implementation.
///
/// A schema without `$schema` uses JSON Schema 2020-12 (protocol revision 2026-07-28, basic, "JSON Schema Usage").
/// Both the schema and the value are from the server. So an implementation must limit the cost of a check, and must
/// not fetch the targets of `$ref`.
pub trait Validator {
    /// Checks a JSON value against a JSON Schema.
    ///
    /// # Errors
    /// [`ValidationError::Value`] if the value does not match the schema, [`ValidationError::Schema`] if the schema
    /// cannot be used.
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), ValidationError>;
}

/// Why a [`Validator`] rejected a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// The schema is invalid, or checking the value would cost too much. The value was not checked.
    #[error("the schema cannot be used: {}", bounded(reason))]
    Schema {
        /// Why the schema cannot be used.
        reason: String,
    },
    /// The value does not match the schema.
    #[error("the value does not fit its schema{}: {}", place(at), bounded(reason))]
    Value {
        /// The JSON pointer (RFC 6901) of the part of the value that does not match. Empty if the value as a whole
        /// does not match.
        at: String,
        /// Why the part at the pointer `at` does not match the schema.
        reason: String,
    },
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{}`", bounded(at)) }
}

/// Limits a validator's text to one line of at most 200 bytes, because the text may quote a value from the server.
fn bounded(text: &str) -> String {
    excerpt(text.as_bytes())
}

impl Tool {
    /// Checks the structured content of a result of this tool against the tool's output schema.
    ///
    /// A result always passes if the tool has no output schema, or if the tool reported a failure.
    ///
    /// # Errors
    /// [`StructuredErrorKind::Absent`] if the result has no structured content. [`StructuredErrorKind::Invalid`] if the
    /// content does not match the schema, or if the schema cannot be used. The caller can still use the text of the
    /// result.
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
