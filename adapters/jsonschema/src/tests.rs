//! Tests that the computed costs are upper bounds. A custom keyword in each subschema counts the work that `jsonschema` does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use jsonschema::{Draft, Keyword, PatternOptions, ValidationError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::cost::{self, Refusal};
use crate::graph::Graph;
use crate::pattern::PatternCost;

const COUNTER: &str = "x-counter";
const DEFS: usize = 5;

/// Number of generated definitions that have an `$id`, and thus are schema resources.
const RESOURCES: usize = 3;

struct Counter(Arc<AtomicUsize>);

impl<'i> Keyword<'i> for Counter {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        self.0.fetch_add(1, Relaxed);
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        self.0.fetch_add(1, Relaxed);
        true
    }
}

/// Returns how many subschemas `jsonschema` compiles and how many it evaluates. `None` if the schema is invalid.
fn counted(schema: &Value, value: &Value) -> Option<(usize, usize)> {
    let (compiled, evaluated) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (compilations, evaluations) = (Arc::clone(&compiled), Arc::clone(&evaluated));
    let validator = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_keyword(COUNTER, move |_: &Map<String, Value>, _, _| {
            compilations.fetch_add(1, Relaxed);
            Ok(Box::new(Counter(Arc::clone(&evaluations))) as Box<dyn for<'i> Keyword<'i>>)
        })
        .build(schema)
        .ok()?;
    let _ = validator.is_valid(value);
    Some((compiled.load(Relaxed), evaluated.load(Relaxed)))
}

/// Returns a strategy that generates subschemas that refer to each other. It uses all keywords that apply subschemas.
fn subschema() -> impl Strategy<Value = Value> {
    let reference = (0..DEFS).prop_map(|n| json!({ "$ref": format!("#/$defs/{n}"), COUNTER: true }));
    let resource = (0..RESOURCES).prop_map(|n| json!({ "$ref": format!("https://example.com/{n}"), COUNTER: true }));
    let anchor = Just(json!({ "$dynamicRef": "#anchor", COUNTER: true }));
    let dynamic = (0..DEFS).prop_map(|n| json!({ "$dynamicRef": format!("#/$defs/{n}"), COUNTER: true }));
    let leaf = prop_oneof![4 => reference, 2 => resource, 1 => anchor, 1 => dynamic, 1 => Just(json!({ COUNTER: true })), 1 => Just(json!(true))];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let keyword = prop_oneof![
            Just("allOf"),
            Just("anyOf"),
            Just("oneOf"),
            Just("not"),
            Just("if"),
            Just("then"),
            Just("else"),
            Just("dependentSchemas"),
            Just("properties"),
            Just("patternProperties"),
            Just("additionalProperties"),
            Just("propertyNames"),
            Just("items"),
            Just("prefixItems"),
            Just("contains"),
            Just("unevaluatedProperties"),
            Just("unevaluatedItems"),
        ];
        prop::collection::vec((keyword, prop::collection::vec(inner, 1..3)), 1..4).prop_map(|parts| {
            let mut schema = json!({ COUNTER: true });
            for (keyword, mut subschemas) in parts {
                schema[keyword] = match keyword {
                    "allOf" | "anyOf" | "oneOf" | "prefixItems" => Value::Array(subschemas),
                    "dependentSchemas" | "properties" | "patternProperties" => {
                        Value::Object(["a", "b"].map(str::to_owned).into_iter().zip(subschemas).collect())
                    }
                    _ => subschemas.remove(0),
                };
            }
            schema
        })
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![Just(json!(1)), Just(json!("text"))].prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec(inner, 0..3)
                .prop_map(|values| Value::Object(["a", "b", "c"].map(str::to_owned).into_iter().zip(values).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_bounds_are_never_below_the_actual_cost(
        defs in prop::collection::vec(subschema(), DEFS),
        anchors in prop::collection::vec(any::<bool>(), DEFS),
        value in value(),
    ) {
        let mut defs: Map<String, Value> = defs.into_iter().enumerate().map(|(n, def)| (n.to_string(), def)).collect();
        for (n, def) in defs.values_mut().enumerate() {
            if def.is_boolean() {
                *def = json!({ COUNTER: true });
            }
            if anchors[n] {
                def["$dynamicAnchor"] = json!("anchor");
            }
            if n < RESOURCES {
                def["$id"] = json!(format!("https://example.com/{n}"));
            }
        }
        let schema = json!({ "$id": "https://example.com/", "$ref": "#/$defs/0", "$defs": defs, COUNTER: true });
        let graph = Graph::new(&schema, 10_000).expect("its parts are few");
        let Ok(compilation) = cost::compilation(&graph, 20_000, 0) else { return Ok(()) };
        let Ok(evaluation) = cost::evaluation(&graph, &value, 200_000) else { return Ok(()) };
        let Some((compiled, evaluated)) = counted(&schema, &value) else { return Ok(()) };
        prop_assert!(compiled <= compilation, "{compiled} compiled, {compilation} expected: {schema}");
        prop_assert!(evaluated <= evaluation.steps, "{evaluated} evaluated, {} expected: {schema} {value}", evaluation.steps);
    }
}

#[test]
fn a_pattern_costs_its_places_for_each_byte_and_its_states_in_memory() {
    assert_eq!(PatternCost::from_pattern("abc").steps(160), 30);
    assert_eq!(PatternCost::from_pattern("[ab]{50}").steps(160), 500);
    assert_eq!(PatternCost::from_pattern("(a{10}){20}").steps(16), 200);
    assert!(PatternCost::from_pattern("(((a{1000}){1000}){1000}){1000}").bytes() > 1 << 40);
    assert_eq!(
        PatternCost::from_pattern("((((((a{1000}){1000}){1000}){1000}){1000}){1000}){1000}").bytes(),
        usize::MAX
    );
    assert!(PatternCost::from_pattern(r"^\d{4}-\d{2}-\d{2}$").bytes() < 4_000);
}

#[test]
fn the_memory_of_patterns_is_not_underestimated() {
    for pattern in [r"^\w+@\w+\.\w+$", r"\p{L}{20}", "[^a]{100}", "(a|b|c){50}", "é{30}", "(?:x[0-9a-f]{2}){40}"] {
        let bytes = PatternCost::from_pattern(pattern).bytes();
        let build = |limit| {
            let patterns = PatternOptions::regex().size_limit(limit).dfa_size_limit(1 << 20);
            jsonschema::options().offline().with_pattern_options(patterns).build(&json!({ "pattern": pattern })).is_ok()
        };
        assert!(build(bytes), "{pattern} takes more than {bytes} bytes");
    }
}

#[test]
fn recursion_is_rejected_only_on_the_same_value() {
    let compilation = |schema: Value| cost::compilation(&Graph::new(&schema, 100).expect("few"), 1_000, 0);
    for schema in [
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "dependentSchemas": { "a": { "$ref": "#" } } }),
        json!({ "not": { "$dynamicRef": "#a" }, "$dynamicAnchor": "a" }),
        json!({ "$schema": "https://json-schema.org/draft/2019-09/schema", "if": { "$recursiveRef": "#" } }),
    ] {
        assert_eq!(compilation(schema.clone()), Err(Refusal::Loop), "{schema}");
    }
    for schema in [
        json!({ "items": { "$ref": "#" } }),
        json!({ "properties": { "a": { "allOf": [{ "$ref": "#" }], "unevaluatedProperties": false } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": { "a": { "$ref": "#/definitions/b",
            "allOf": [{ "$ref": "#/definitions/a" }] }, "b": {} }, "allOf": [{ "$ref": "#/definitions/a" }] }),
    ] {
        assert!(compilation(schema.clone()).is_ok(), "{schema}");
    }
}
