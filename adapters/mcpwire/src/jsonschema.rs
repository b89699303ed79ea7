//! Validates the structured content of tool results against output schemas (JSON Schema).
//!
//! The default dialect is 2020-12. Drafts 4, 6, 7 and 2019-09 are used if `$schema` names them. Schemas and values come from servers
//! that are not trusted, so nothing is fetched: a `$ref` to another document is an error.
//!
//! # Limits
//!
//! A schema of a few hundred bytes can take minutes and gigabytes if each level refers twice to the next. So the cost is counted before
//! a schema is compiled, and again before a value is validated. Validation fails if the cost exceeds the [`Limits`]:
//!
//! * the schema is too long, has too many parts, or takes too many steps to compile ([`ValidationError::Schema`]);
//! * the patterns take too much memory, or contain look-around or backreferences ([`ValidationError::Schema`]);
//! * a subschema applies itself to the same value, which would never end ([`ValidationError::Schema`]);
//! * the value has too many parts, or takes too many steps ([`ValidationError::Value`]), for example if the alternatives of a recursive
//!   schema all descend into the same member;
//! * the nesting is too deep for a stack of 2 MiB, following references and the value: more than 200 subschemas while compiling, or
//!   1,000 while validating (both kinds of errors).
//!
//! A rejected value may be valid: the error says that it was not checked.
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
