//! Validates the structured content of tool results against output schemas (JSON Schema).
//!
//! The default dialect is 2020-12. Drafts 4, 6, 7 and 2019-09 are used if `$schema` names them. Servers are not trusted, so their
//! schemas cannot make the client fetch anything: a `$ref` to another document is an error.
//!
//! # Limits
//!
//! A schema of a few hundred bytes can take minutes and gigabytes if each level refers twice to the next. Therefore, the
//! validator computes the cost before it compiles a schema, and again before it validates a value. If the cost exceeds the
//! [`Limits`], validation fails:
//!
//! * the schema is too long, has too many parts, or takes too many steps to compile ([`ValidationError::Schema`]);
//! * the patterns take too much memory, or contain look-around or backreferences ([`ValidationError::Schema`]);
//! * a subschema applies itself to the same value, so that validation would never end ([`ValidationError::Schema`]);
//! * the value has too many parts, or takes too many steps ([`ValidationError::Value`]), for example if all alternatives of a
//!   recursive schema descend into the same member;
//! * the nesting is too deep for a stack of 2 MiB: more than 200 nested subschemas while a schema is compiled
//!   ([`ValidationError::Schema`]), or more than 1,000 nested subschemas and levels of the value while it is validated
//!   ([`ValidationError::Value`]). Targets of references count as nested.
//!
//! A value that exceeds a limit may be valid. The error says that the value was not checked.
//!
//! ```
//! use mcpwire::{CallToolResult, Json, Tool};
//! use mcpwire::jsonschema::JsonSchema;
//!
//! let tool = r#"{"name":"add","inputSchema":{},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}}}}"#;
//! let tool: Tool = Json::parse(tool)?.decode()?;
//! let result = r#"{"content":[],"structuredContent":{"sum":"three"}}"#;
//! let result: CallToolResult = Json::parse(result)?.decode()?;
//! let error = tool.check_output(&result, &JsonSchema::new()).unwrap_err();
//! assert!(error.to_string().contains("tool `add`") && error.to_string().contains("/sum"));
//! # Ok::<(), mcpwire::types::JsonError>(())
//! ```
//!
//! [`ValidationError::Schema`]: crate::types::ValidationError::Schema
//! [`ValidationError::Value`]: crate::types::ValidationError::Value

#[doc(inline)]
pub use mcpwire_jsonschema::*;
