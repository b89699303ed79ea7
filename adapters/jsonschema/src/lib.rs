//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `jsonschema`; its API may change in any release.
//!
//! Validates the structured content of tool results against output schemas (JSON Schema). The module `mcpwire::jsonschema`
//! documents the dialects and the limits.
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

/// Maximum length of the reason in an error, in bytes. The reason is limited, because it quotes the value, which can be large.
const MAX_REASON: usize = 1 << 10;

/// Limits for the cost of a validation. They protect the program from schemas and values of servers that are not trusted.
///
/// Patterns run in linear time. A schema is rejected if a pattern cannot, because it contains look-around or backreferences.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a schema, in bytes. The default is 256 KiB: ten times the largest known schema of a server.
    pub schema_bytes: usize,
    /// Maximum number of JSON values in a schema, including subschemas. The default is 10,000: a schema of 256 KiB usually has
    /// fewer values.
    pub schema_values: usize,
    /// Maximum number of steps to compile a schema, and maximum number of steps to apply one of its subschemas in place.
    ///
    /// The default is 100,000: ten steps for each value of the largest schema, and at most 64 MiB of memory. A step is the
    /// compilation of one value at a location of up to 32 bytes.
    pub schema_steps: usize,
    /// Maximum number of JSON values in the structured content of a result. The default is 1,000,000: enough for a table of
    /// 100,000 rows.
    pub values: usize,
    /// Maximum number of steps to validate a value.
    ///
    /// The default is 10,000,000, which take about a second: twice the cost of a table of 100,000 rows and ten columns. A step is
    /// the evaluation of one keyword, or of one value of `enum`, for one part of the value. For patterns, a step is the
    /// evaluation of one position of the pattern for 16 bytes of text.
    pub steps: usize,
    /// Maximum memory for all compiled patterns of a schema, in bytes. The default is 4 MiB: enough for some hundred common
    /// patterns.
    pub pattern_bytes: usize,
    /// Maximum number of compiled schemas in the cache. The default is 64: enough for the tools that are in use at a time.
    ///
    /// When the cache is full, the least recently used schema is removed. Schemas are also removed while all cached schemas
    /// together have more than `schema_steps` steps.
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

/// A compiled schema, with the graph from which the cost of a validation is computed.
struct CompiledSchema {
    validator: jsonschema::Validator,
    graph: Graph,
    /// Number of steps of the compilation. The memory of the compiled schema is proportional to it.
    steps: usize,
}

/// A [`Validator`] that checks the structured content of tool results with the crate `jsonschema`. It caches compiled schemas.
#[derive(Default)]
pub struct JsonSchema {
    limits: Limits,
    /// The compiled schemas, in the order of their last use. The most recently used schema is last.
    cache: Mutex<Vec<(Json, Arc<CompiledSchema>)>>,
}

impl JsonSchema {
    /// Creates a validator with the default limits.
    pub fn new() -> Self {
        JsonSchema::default()
    }

    /// Creates a validator with limits other than the default.
    pub fn with_limits(limits: Limits) -> Self {
        JsonSchema { limits, ..JsonSchema::default() }
    }

    fn get_or_compile(&self, schema: &Json) -> Result<Arc<CompiledSchema>, ValidationError> {
        if let Some(found) = self.take_cached(schema) {
            self.put_cached(schema, &found);
            return Ok(found);
        }
        // The schema is compiled without the lock, because the compilation can take long.
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
        // A schema may refer to the metaschemas, which have about 400 parts. The limit is 1,000 higher to include them.
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

    /// Returns the text of the reason why a schema or value was rejected, for an error. `steps` is the limit that applied.
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

/// Returns the message of an error, shortened to [`MAX_REASON`] bytes.
fn excerpt(error: &dyn fmt::Display) -> String {
    /// A text of up to [`MAX_REASON`] bytes. At the limit, writing fails, so that the rest of the message is not formatted.
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
