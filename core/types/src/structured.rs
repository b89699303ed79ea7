//! Structured content of tool results (specification: server/tools, "Structured Content"). Decodes the content into a
//! type of the program, and checks it against the tool's output schema ("Output Schema").

use alloc::string::String;

use serde::Deserialize;

use crate::{CallToolResult, Tool};
use mcpwire_text::json::{self, Json, PeerError, peer_error};
use mcpwire_text::{excerpt, printable};

impl CallToolResult {
    /// Decodes the structured content of the result into the type `T` of the caller.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{CallToolResult, Json}; } }
    /// use mcpwire::types::{CallToolResult, Json};
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
    /// [`StructuredErrorKind::ToolFailed`] if the tool failed, also if the result has structured content: decode
    /// [`CallToolResult::structured_content`] to read that. [`StructuredErrorKind::Absent`] if the result has no
    /// structured content.
    /// [`StructuredErrorKind::Mismatch`] if the content does not fit the type `T`.
    pub fn structured<'a, T: Deserialize<'a>>(&'a self) -> Result<T, StructuredError> {
        let Some(content) = self.structured_content.as_ref().filter(|_| !self.is_error) else {
            return Err(self.unstructured());
        };
        json::from_str(content.get()).map_err(|error| {
            StructuredError::new(StructuredErrorKind::Mismatch(peer_error::from_read(&error, content.get().as_bytes())))
        })
    }

    #[cold]
    fn unstructured(&self) -> StructuredError {
        let text = self.text();
        let text = match &self.structured_content {
            Some(content) if text.as_str().is_empty() => excerpt(content.get().as_bytes()),
            _ => excerpt(text.as_str().as_bytes()),
        };
        StructuredError::new(if self.is_error {
            StructuredErrorKind::ToolFailed { text }
        } else {
            StructuredErrorKind::Absent { text }
        })
    }
}

/// The error for a tool result whose structured content is missing or invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", prefix(tool))]
#[non_exhaustive]
pub struct StructuredError {
    /// The name of the tool that returned the result. Empty if unknown: a tool result does not contain the tool's name.
    pub tool: String,
    /// Whether the structured content is missing, of the wrong type, or invalid for its schema.
    pub kind: StructuredErrorKind,
}

/// Why the structured content of a tool result cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredErrorKind {
    /// The tool failed (`isError: true`).
    #[error("the tool failed: {}", or_nothing(text))]
    ToolFailed {
        /// The tool's description of the failure: at most the first 200 bytes of the tool result's text, without control
        /// characters. The JSON of the structured content if the result has no text.
        text: String,
    },
    /// The result has no structured content, although the tool did not fail.
    #[error("the result has no structured content; its text is: {}", or_nothing(text))]
    Absent {
        /// At most the first 200 bytes of the tool result's text, without control characters.
        text: String,
    },
    /// The structured content of the tool result cannot be decoded into the Rust type that the caller requested. The
    /// [`PeerError`] contains the path of the invalid part and the reason.
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

    /// Sets the name of the tool that returned the result. The error message then begins with this name.
    pub fn of_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "(empty)" } else { text }
}

fn prefix(tool: &str) -> String {
    if tool.is_empty() { String::new() } else { alloc::format!("tool `{}`: ", printable(tool)) }
}

/// Checks JSON values against a JSON Schema. `mcpwire::jsonschema::JsonSchema` is an implementation.
///
/// A schema without `$schema` is a JSON Schema 2020-12 schema (protocol revision 2026-07-28, basic, "JSON Schema
/// Usage"). Schemas and values come from the server, so an implementation must limit the cost of a check, and must not
/// fetch the targets of `$ref`.
pub trait Validator {
    /// Checks a JSON value against a JSON Schema.
    ///
    /// # Errors
    /// [`ValidationError::Value`] if the value does not match the schema, [`ValidationError::Schema`] if the schema
    /// cannot be used.
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), ValidationError>;
}

/// Why a [`Validator`] rejected a value.
///
/// `Display` shows at most 200 bytes of a text, on one line, because the text may quote a value from the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValidationError {
    /// The schema cannot be used: it is invalid, or a check against it would cost too much. The value was not checked.
    #[error("the schema cannot be used: {}", excerpt(reason.as_bytes()))]
    Schema {
        /// Why the schema cannot be used.
        reason: String,
    },
    /// The value does not match the schema.
    #[error("the value does not fit its schema{}: {}", place(at), excerpt(reason.as_bytes()))]
    Value {
        /// JSON pointer (RFC 6901) to the part of the checked value that does not match the schema. Empty if the value
        /// as a whole does not match.
        at: String,
        /// Why the part of the value at the JSON pointer `at` does not match the schema.
        reason: String,
    },
}

impl ValidationError {
    /// Creates the error for a value that does not match its schema. `at` is the JSON pointer (RFC 6901) to the part that does not
    /// match, or empty for the whole value.
    pub fn value(at: impl Into<String>, reason: impl Into<String>) -> Self {
        ValidationError::Value { at: at.into(), reason: reason.into() }
    }

    /// Creates the error for a schema that cannot be used.
    pub fn schema(reason: impl Into<String>) -> Self {
        ValidationError::Schema { reason: reason.into() }
    }
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{}`", excerpt(at.as_bytes())) }
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
