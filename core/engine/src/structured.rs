//! The answer of a tool as a value (2026-07-28, server/tools, "Structured Content"): read into a type of the caller's, and held
//! against the tool's own schema ("Output Schema").

use alloc::string::String;

use serde::Deserialize;

use crate::error::PeerError;
use crate::json::{self, Json};
use crate::printable;
use crate::text::excerpt;
use crate::types::{CallToolResult, Tool};

impl CallToolResult {
    /// Decodes the structured content into a type of the caller's.
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
    /// If the result has no structured content, which is so for most tools that failed, or if that is none of the type.
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

/// Why the structured content of a result could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", prefix(tool))]
#[non_exhaustive]
pub struct StructuredError {
    /// The tool, where it is known: empty if the error is of [`CallToolResult::structured`].
    pub tool: String,
    /// What is wrong.
    pub kind: StructuredErrorKind,
}

/// What can be wrong with structured content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StructuredErrorKind {
    /// There is none.
    #[error("{} has no structured content; it says: {said}", if *failed { "the tool failed, and" } else { "the result" })]
    Absent {
        /// The tool reported an error.
        failed: bool,
        /// The beginning of what the tool said in its place, printable.
        said: String,
    },
    /// It is not of the type that it was to be read into. Says what was expected, where, and what stands there.
    #[error("the structured content is not what was expected: {0}")]
    Mismatch(PeerError),
    /// The check against the tool's output schema failed.
    #[error("{0}")]
    Invalid(Invalid),
}

impl StructuredError {
    fn new(kind: StructuredErrorKind) -> Self {
        StructuredError { tool: String::new(), kind }
    }

    /// The same error, of this tool.
    pub fn of_tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = tool.into();
        self
    }
}

fn prefix(tool: &str) -> String {
    if tool.is_empty() { String::new() } else { alloc::format!("tool `{}`: ", printable(tool)) }
}

/// Holds JSON values against JSON Schemas. The library has none of its own: `mcpwire-jsonschema` is one.
///
/// A schema without `$schema` is of the dialect 2020-12 (2026-07-28, basic, "JSON Schema Usage"). An implementation fetches
/// nothing that a `$ref` names, and bounds what a schema may cost: both the schema and the value are the server's.
pub trait Validator {
    /// Holds `value` against `schema`.
    ///
    /// # Errors
    /// What is wrong with either of them.
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), Invalid>;
}

/// What a [`Validator`] found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    /// The schema itself is no good, or asks for too much; nothing is known of the value.
    #[error("the schema cannot be used: {}", bounded(reason))]
    Schema {
        /// What is wrong with it.
        reason: String,
    },
    /// The value is not what the schema asks for.
    #[error("the value does not fit its schema{}: {}", place(at), bounded(reason))]
    Value {
        /// Where in the value, as a JSON pointer (RFC 6901); empty for the whole.
        at: String,
        /// What is wrong there.
        reason: String,
    },
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { alloc::format!(" at `{}`", bounded(at)) }
}

/// What a validator says may quote the value, which is the server's.
fn bounded(text: &str) -> String {
    excerpt(text.as_bytes())
}

impl Tool {
    /// Whether a result is what the tool's output schema promises. A tool without such a schema promises nothing, and one
    /// that failed owes nothing.
    ///
    /// # Errors
    /// [`StructuredErrorKind::Absent`] if there is no structured content, [`StructuredErrorKind::Invalid`] if it does not
    /// fit, or if the schema is no good. Neither concerns other tools, nor the text of this result.
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
