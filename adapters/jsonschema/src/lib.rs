//! Holds what tools answer against their output schemas.
//!
//! A schema without `$schema` is of the dialect 2020-12; drafts 4, 6, 7 and 2019-09 are understood where a schema asks for
//! them. Schemas and values are the server's, so nothing is fetched: a `$ref` to another document is an error of the check.
//!
//! # What is refused
//!
//! A few hundred bytes of schema can take minutes and gigabytes, where each level refers twice to the next. So the cost is
//! counted before a schema is compiled, and again before a value is held against it, and the check fails with an error
//! if it is above the [`Limits`]:
//!
//! * a schema that is too long, has too many parts, or takes too many steps to compile ([`ValidationError::Schema`]);
//! * patterns that take too much memory, or that need more than linear time: look-around, references back ([`ValidationError::Schema`]);
//! * a subschema that applies itself to the same value, which has no meaning ([`ValidationError::Schema`]);
//! * a value with too many parts, or that takes too many steps ([`ValidationError::Value`]): a recursive schema of several
//!   alternatives that all descend into the same member costs a multiple with each level of the value;
//! * subschemas within subschemas that are nested too deep, along references and through the value, for a stack of 2 MiB:
//!   200 while compiling, 1,000 while evaluating (either).
//!
//! What is refused is not known to be wrong: the error says that it was not checked.
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

/// The most bytes of an explanation; it quotes the value.
const MAX_REASON: usize = 1 << 10;

/// What a check may cost at most.
///
/// Patterns run in time that is linear in the text, whatever they are: those that would need more (look-around, references
/// back) are refused with their schema.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The longest schema, in bytes. 256 KiB: ten times the largest in the field.
    pub schema_bytes: usize,
    /// The most subschemas and other values within a schema. 10,000: as many as fit into the longest schema where each is
    /// of a usual length.
    pub schema_values: usize,
    /// The most steps for compiling a schema, and for what it applies to every value. 100,000: ten for each value of the largest
    /// schema, at most 64 MiB. A step is one value within the schema at a location of up to 32 bytes, each time that it is
    /// compiled.
    pub schema_steps: usize,
    /// The most values within a value. 1,000,000: a table of a hundred thousand rows passes.
    pub values: usize,
    /// The most steps for holding a value against its schema. 10,000,000: about a second, and twice what a table of a hundred
    /// thousand rows of ten columns takes. A step is one keyword, or one value of `enum`, held against one part of
    /// the value; for patterns, one place of the pattern against 16 bytes of text.
    pub steps: usize,
    /// The most memory that all patterns of a schema may take, in bytes. 4 MiB: some hundred usual ones.
    pub pattern_bytes: usize,
    /// How many compiled schemas are kept for the next check; the one that was not used for longest goes. 64: the tools
    /// that are in use at a time. All of them together take no more memory than one of `schema_steps`.
    pub kept: usize,
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
            kept: 64,
        }
    }
}

/// A schema that is ready for checks.
struct Compiled {
    validator: jsonschema::Validator,
    graph: Graph,
    /// How many steps it took to compile, which its memory goes with.
    steps: usize,
}

/// A [`Validator`] by the crate `jsonschema`. It keeps the schemas that it has compiled.
#[derive(Default)]
pub struct JsonSchema {
    limits: Limits,
    /// The last used last.
    kept: Mutex<Vec<(Json, Arc<Compiled>)>>,
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

    fn compiled(&self, schema: &Json) -> Result<Arc<Compiled>, ValidationError> {
        if let Some(found) = self.take(schema) {
            self.keep(schema, &found);
            return Ok(found);
        }
        // Compiled without the lock: it may take its time.
        let compiled = Arc::new(self.compile(schema)?);
        self.keep(schema, &compiled);
        Ok(compiled)
    }

    fn take(&self, schema: &Json) -> Option<Arc<Compiled>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| known == schema)?;
        Some(kept.remove(at).1)
    }

    fn keep(&self, schema: &Json, compiled: &Arc<Compiled>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.iter().any(|(known, _)| known == schema) {
            return;
        }
        let mut steps: usize = kept.iter().map(|(_, kept)| kept.steps).sum::<usize>() + compiled.steps;
        while kept.len() >= self.limits.kept.max(1) || (steps > self.limits.schema_steps && !kept.is_empty()) {
            steps -= kept.remove(0).1.steps;
        }
        kept.push((schema.clone(), Arc::clone(compiled)));
    }

    fn compile(&self, schema: &Json) -> Result<Compiled, ValidationError> {
        let Limits { schema_bytes, schema_values, schema_steps, pattern_bytes, .. } = self.limits;
        if schema.get().len() > schema_bytes {
            return Err(unusable(format!("it is longer than {schema_bytes} bytes")));
        }
        let schema: Value = serde_json::from_str(schema.get()).map_err(|error| unusable(error.to_string()))?;
        if count(&schema) > schema_values {
            return Err(unusable(format!("it has more than {schema_values} parts")));
        }
        // Those of the specification, which a schema may refer to, have some 400 parts.
        let graph = Graph::new(&schema, schema_values.saturating_add(1_000)).map_err(unusable)?;
        let steps = cost::compilation(&graph, schema_steps, pattern_bytes)
            .map_err(|refusal| unusable(self.refused(refusal, schema_steps)))?;
        let patterns = PatternOptions::regex().size_limit(pattern_bytes).dfa_size_limit(pattern_bytes);
        let mut options = jsonschema::options().offline().with_pattern_options(patterns);
        if schema.get("$schema").is_none() {
            options = options.with_draft(Draft::Draft202012);
        }
        let validator = options.build(&schema).map_err(|error| unusable(excerpt(&error)))?;
        Ok(Compiled { validator, graph, steps })
    }

    /// Says why something was not checked.
    fn refused(&self, refusal: Refusal, steps: usize) -> String {
        match refusal {
            Refusal::Steps => format!("it takes more than {steps} steps, and was not checked"),
            Refusal::Depth => {
                "its subschemas are applied within each other too deep, and it was not checked".to_owned()
            }
            Refusal::Loop => "one of its subschemas applies itself to the same value".to_owned(),
            Refusal::Patterns => format!("its patterns take more than {} bytes", self.limits.pattern_bytes),
        }
    }
}

impl Validator for JsonSchema {
    fn validate(&self, schema: &Json, value: &Json) -> Result<(), ValidationError> {
        let compiled = self.compiled(schema)?;
        let whole = |reason: String| ValidationError::Value { at: String::new(), reason };
        let value: Value = serde_json::from_str(value.get()).map_err(|error| whole(error.to_string()))?;
        if count(&value) > self.limits.values {
            return Err(whole(format!("it has more than {} parts, and was not checked", self.limits.values)));
        }
        let cost = cost::evaluation(&compiled.graph, &value, self.limits.steps)
            .map_err(|refusal| whole(self.refused(refusal, self.limits.steps)))?;
        // The answer alone costs less than the explanation, and most values fit.
        if compiled.validator.is_valid(&value) {
            return Ok(());
        }
        if !cost.explained {
            return Err(whole("none of the alternatives of its schema fits; they are too many to say why".to_owned()));
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

fn unusable(reason: String) -> ValidationError {
    ValidationError::Schema { reason }
}

/// Returns the beginning of what an error says.
fn excerpt(error: &dyn fmt::Display) -> String {
    /// Takes text up to a limit, and fails then: what is beyond is not even written.
    struct Bounded(String);
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            let room = MAX_REASON.saturating_sub(self.0.len());
            let kept = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            self.0.push_str(&text[..kept]);
            if kept < text.len() { Err(fmt::Error) } else { Ok(()) }
        }
    }
    let mut bounded = Bounded(String::new());
    if write!(bounded, "{error}").is_err() {
        bounded.0.push_str("...");
    }
    bounded.0
}
