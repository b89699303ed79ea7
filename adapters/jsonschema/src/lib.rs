//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `jsonschema`; its API may change in any release.
//!
//! Validates the structured content of tool results against output schemas (JSON Schema). The module `mcpwire::jsonschema` documents
//! the dialects and the limits.
//!
//! ```
//! # mod mcpwire { pub mod types { pub use mcpwire_core::{CallToolResult, Json, Tool}; } pub mod jsonschema { pub use
//! # mcpwire_jsonschema::JsonSchema; } }
//! use mcpwire::jsonschema::JsonSchema;
//! use mcpwire::types::{CallToolResult, Json, Tool};
//!
//! let tool = r#"{"name":"add","inputSchema":{},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}}}}"#;
//! let tool: Tool = Json::parse(tool)?.decode()?;
//! let result = r#"{"content":[],"structuredContent":{"sum":"three"}}"#;
//! let result: CallToolResult = Json::parse(result)?.decode()?;
//! let error = tool.check_output(&result, &JsonSchema::new()).unwrap_err();
//! assert!(error.to_string().contains("tool `add`") && error.to_string().contains("/sum"));
//! # Ok::<(), mcpwire_core::JsonError>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod cost;
mod graph;
mod pattern;
#[cfg(test)]
mod tests;

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{Draft, PatternOptions};
use mcpwire_core::{Json, ValidationError, Validator};
use serde_json::Value;

use crate::cost::Refusal;
use crate::graph::{Graph, count};

/// Maximum length of the reason in an error, in bytes. Limited because the reason quotes the value.
const MAX_REASON: usize = 1 << 10;

/// Limits for the cost of a validation.
///
/// Patterns run in linear time. A schema with a pattern that needs more (look-around, backreferences) is invalid.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a schema, in bytes. The default is 256 KiB: ten times the largest one in use.
    pub schema_bytes: usize,
    /// Maximum number of JSON values in a schema, including subschemas. The default is 10,000: as many as usually fit into the longest
    /// schema.
    pub schema_values: usize,
    /// Maximum number of steps to compile a schema, and to apply its in-place applicators to a value. The default is 100,000: ten for
    /// each value of the largest schema, and at most 64 MiB of memory. A step is one compilation of one value at a location of up to
    /// 32 bytes.
    pub schema_steps: usize,
    /// Maximum number of JSON values in a value to validate. The default is 1,000,000: enough for a table of 100,000 rows.
    pub values: usize,
    /// Maximum number of steps to validate a value. The default is 10,000,000: about a second, and twice the cost of a table of 100,000
    /// rows and ten columns. A step is the evaluation of one keyword, or of one value of `enum`, for one part of the value; for
    /// patterns, of one position of the pattern for 16 bytes of text.
    pub steps: usize,
    /// Maximum memory for all patterns of a schema, in bytes. The default is 4 MiB: some hundred common patterns.
    pub pattern_bytes: usize,
    /// Maximum number of compiled schemas in the cache, which evicts the least recently used one. The default is 64: the tools that are
    /// in use at a time. The steps of all cached schemas together do not exceed `schema_steps`, either.
    pub cached_schemas: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            schema_bytes: 256 << 10,
            schema_values: 10_000,
            schema_steps: 100_000,
            values: 1_000_000,
            steps: 10_000_000,
            pattern_bytes: 4 << 20,
            cached_schemas: 64,
        }
    }
}

/// A compiled schema and its graph.
struct CompiledSchema {
    validator: jsonschema::Validator,
    graph: Graph,
    /// Number of steps of the compilation, to which the memory is proportional.
    steps: usize,
}

/// A [`Validator`] that uses the crate `jsonschema`, and caches compiled schemas.
#[derive(Default)]
pub struct JsonSchema {
    limits: Limits,
    /// The compiled schemas. The most recently used one is last.
    cache: Mutex<Vec<(Json, Arc<CompiledSchema>)>>,
}

impl JsonSchema {
    /// Creates a validator with the default limits.
    pub fn new() -> Self {
        JsonSchema::default()
    }

    /// Creates a validator with these limits.
    pub fn with_limits(limits: Limits) -> Self {
        JsonSchema { limits, ..JsonSchema::default() }
    }

    fn get_or_compile(&self, schema: &Json) -> Result<Arc<CompiledSchema>, ValidationError> {
        if let Some(found) = self.take_cached(schema) {
            self.put_cached(schema, &found);
            return Ok(found);
        }
        // Compiled without the lock, because this can take long.
        let compiled = Arc::new(self.compile(schema)?);
        self.put_cached(schema, &compiled);
        Ok(compiled)
    }

    fn take_cached(&self, schema: &Json) -> Option<Arc<CompiledSchema>> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let at = cache.iter().position(|(known, _)| known == schema)?;
        Some(cache.remove(at).1)
    }

    fn put_cached(&self, schema: &Json, compiled: &Arc<CompiledSchema>) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.iter().any(|(known, _)| known == schema) {
            return;
        }
        let mut steps: usize = cache.iter().map(|(_, cached)| cached.steps).sum::<usize>() + compiled.steps;
        while cache.len() >= self.limits.cached_schemas.max(1)
            || (steps > self.limits.schema_steps && !cache.is_empty())
        {
            steps -= cache.remove(0).1.steps;
        }
        cache.push((schema.clone(), Arc::clone(compiled)));
    }

    fn compile(&self, schema: &Json) -> Result<CompiledSchema, ValidationError> {
        let Limits { schema_bytes, schema_values, schema_steps, pattern_bytes, .. } = self.limits;
        if schema.get().len() > schema_bytes {
            return Err(invalid_schema(format!("it is longer than {schema_bytes} bytes")));
        }
        let schema: Value = serde_json::from_str(schema.get()).map_err(|error| invalid_schema(error.to_string()))?;
        if count(&schema) > schema_values {
            return Err(invalid_schema(format!("it has more than {schema_values} parts")));
        }
        // 1,000 more for the metaschemas, to which a schema may refer: they have about 400 parts.
        let graph = Graph::new(&schema, schema_values.saturating_add(1_000)).map_err(invalid_schema)?;
        let steps = cost::compilation(&graph, schema_steps, pattern_bytes)
            .map_err(|refusal| invalid_schema(self.reason(refusal, schema_steps)))?;
        let patterns = PatternOptions::regex().size_limit(pattern_bytes).dfa_size_limit(pattern_bytes);
        let mut options = jsonschema::options().offline().with_pattern_options(patterns);
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft202012);
        }
        let validator = options.build(&schema).map_err(|error| invalid_schema(excerpt(&error)))?;
        Ok(CompiledSchema { validator, graph, steps })
    }

    /// Returns the reason why a schema or value was rejected.
    fn reason(&self, refusal: Refusal, steps: usize) -> String {
        match refusal {
            Refusal::Steps => format!("it takes more than {steps} steps, and was not checked"),
            Refusal::Depth => "its subschemas are nested too deep, and it was not checked".to_owned(),
            Refusal::Loop => "one of its subschemas applies itself to the same value".to_owned(),
            Refusal::Patterns => format!("its patterns take more than {} bytes", self.limits.pattern_bytes),
        }
    }
}

impl Validator for JsonSchema {
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), ValidationError> {
        let compiled = self.get_or_compile(schema)?;
        let root_error = |reason: String| ValidationError::Value { at: String::new(), reason };
        let value: Value = serde_json::from_str(value.get()).map_err(|error| root_error(error.to_string()))?;
        if count(&value) > self.limits.values {
            return Err(root_error(format!("it has more than {} parts, and was not checked", self.limits.values)));
        }
        let cost = cost::evaluation(&compiled.graph, &value, self.limits.steps)
            .map_err(|refusal| root_error(self.reason(refusal, self.limits.steps)))?;
        // `is_valid` is cheaper than `validate`, and most values are valid.
        if compiled.validator.is_valid(&value) {
            return Ok(());
        }
        if !cost.is_explainable {
            return Err(root_error(
                "it matches none of the alternatives of its schema, which are too many for a reason".to_owned(),
            ));
        }
        compiled
            .validator
            .validate(&value)
            .map_err(|error| ValidationError::Value { at: error.instance_path().to_string(), reason: excerpt(&error) })
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonSchema").field("limits", &self.limits).finish_non_exhaustive()
    }
}

fn invalid_schema(reason: String) -> ValidationError {
    ValidationError::Schema { reason }
}

/// Returns the message of an error, up to [`MAX_REASON`] bytes.
fn excerpt(error: &dyn fmt::Display) -> String {
    /// Stores text up to the limit, and fails then, so that the rest is not formatted.
    struct Bounded(String);
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = MAX_REASON.saturating_sub(self.0.len());
            let fits = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            self.0.push_str(&text[..fits]);
            if fits < text.len() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut bounded = Bounded(String::new());
    if write!(bounded, "{error}").is_err() {
        bounded.0.push_str("...");
    }
    bounded.0
}
