//! Holds what tools answer against their output schemas.
//!
//! A schema without `$schema` is of the dialect 2020-12; drafts 4, 6, 7 and 2019-09 are understood where a schema asks for
//! them. Schemas and values are the server's, so nothing is fetched (a `$ref` to another document is an error of the check),
//! and a schema that is too large, too deep or too costly is refused: see [`Limits`].
//!
//! ```
//! use mcpwire_core::{CallToolResult, Json, Tool};
//! use mcpwire_jsonschema::JsonSchema;
//!
//! let tool = r#"{"name":"add","inputSchema":{},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}}}}"#;
//! let tool: Tool = Json::parse(tool)?.decode()?;
//! let result = r#"{"content":[],"structuredContent":{"sum":"three"}}"#;
//! let result: CallToolResult = Json::parse(result)?.decode()?;
//! let error = tool.check_output(&result, &JsonSchema::new()).unwrap_err();
//! assert!(error.to_string().contains("tool `add`") && error.to_string().contains("/sum"));
//! # Ok::<(), mcpwire_core::JsonError>(())
//! ```

#![forbid(unsafe_code)]

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, PatternOptions};
use mcpwire_core::{Invalid, Json, Validator};
use serde_json::Value;

/// What a check may cost at most.
///
/// Patterns run in time that is linear in the text, whatever they are: those that would need more (look-around, references
/// back) are refused with their schema.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The longest schema, in bytes. 256 KiB: ten times the largest in the field.
    pub schema_bytes: usize,
    /// The most subschemas and other values within a schema. 10 000: each is a step of the check, for each part of the
    /// value that it is held against.
    pub schema_values: usize,
    /// The most values within a value. 1 000 000: a table of a hundred thousand rows passes.
    pub values: usize,
    /// The most memory that a pattern may take, in bytes. 1 MiB.
    pub pattern_bytes: usize,
    /// How many compiled schemas are kept for the next check; the one that was not used for longest goes. 64: the tools
    /// that are in use at a time.
    pub kept: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { schema_bytes: 256 << 10, schema_values: 10_000, values: 1_000_000, pattern_bytes: 1 << 20, kept: 64 }
    }
}

/// A [`Validator`] by the crate `jsonschema`. It keeps the schemas that it has compiled.
#[derive(Default)]
pub struct JsonSchema {
    limits: Limits,
    /// The last used last.
    kept: Mutex<Vec<(Json, Arc<jsonschema::Validator>)>>,
}

impl JsonSchema {
    /// With the default limits.
    pub fn new() -> Self {
        JsonSchema::default()
    }

    /// With other limits.
    pub fn with_limits(limits: Limits) -> Self {
        JsonSchema { limits, ..JsonSchema::default() }
    }

    fn compiled(&self, schema: &Json) -> Result<Arc<jsonschema::Validator>, Invalid> {
        if let Some(found) = self.take(schema) {
            self.keep(schema, &found);
            return Ok(found);
        }
        // Compiled without the lock: it may take its time.
        let compiled = Arc::new(self.compile(schema)?);
        self.keep(schema, &compiled);
        Ok(compiled)
    }

    fn take(&self, schema: &Json) -> Option<Arc<jsonschema::Validator>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| known == schema)?;
        Some(kept.remove(at).1)
    }

    fn keep(&self, schema: &Json, compiled: &Arc<jsonschema::Validator>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|(known, _)| known == schema) {
            return;
        }
        while kept.len() >= self.limits.kept.max(1) {
            kept.remove(0);
        }
        kept.push((schema.clone(), Arc::clone(compiled)));
    }

    fn compile(&self, schema: &Json) -> Result<jsonschema::Validator, Invalid> {
        let Limits { schema_bytes, schema_values, pattern_bytes, .. } = self.limits;
        if schema.get().len() > schema_bytes {
            return Err(unusable(format!("it is longer than {schema_bytes} bytes")));
        }
        let schema: Value = serde_json::from_str(schema.get()).map_err(|error| unusable(error.to_string()))?;
        if count(&schema) > schema_values {
            return Err(unusable(format!("it has more than {schema_values} parts")));
        }
        let patterns = PatternOptions::regex().size_limit(pattern_bytes).dfa_size_limit(pattern_bytes);
        let mut options = jsonschema::options().offline().with_pattern_options(patterns);
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft202012);
        }
        options.build(&schema).map_err(|error| unusable(error.to_string()))
    }
}

impl Validator for JsonSchema {
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), Invalid> {
        let compiled = self.compiled(schema)?;
        let whole = |reason: String| Invalid::Value { at: String::new(), reason };
        let value: Value = serde_json::from_str(value.get()).map_err(|error| whole(error.to_string()))?;
        if count(&value) > self.limits.values {
            return Err(whole(format!("it has more than {} parts, and was not checked", self.limits.values)));
        }
        compiled
            .validate(&value)
            .map_err(|error| Invalid::Value { at: error.instance_path().to_string(), reason: error.to_string() })
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonSchema").field("limits", &self.limits).finish_non_exhaustive()
    }
}

fn unusable(reason: String) -> Invalid {
    Invalid::Schema { reason }
}

/// How many values a value is made of, itself included. Its depth was bounded when it was read.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(count).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<usize>(),
        _ => 1,
    }
}
