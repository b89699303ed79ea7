//! [`Inputs`]: the arguments with which a tool is called: valid, nearly valid, large and odd ones.

use std::collections::{HashMap, HashSet};

use mcpwire_driver::protocol::{Json, Tool};
use proptest::strategy::{BoxedStrategy, Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::strategies::arguments;
use crate::strategies::{limits, resolved};

/// The name of an argument that no tool has.
const UNKNOWN: &str = "mcpwire_unknown";
/// Length of a long text in characters: below the maximum length of a word on the command line of Linux, so that findings can be
/// repeated with a command.
const LONG_TEXT: usize = 100_000;
const LONG_ARRAY: usize = 2_000;
/// Depth of a deep value. Many JSON parsers have a limit of about 100.
const DEEP: usize = 60;
/// How often in a row an input may be known already. Then there are no more.
const MOST_REPEATED: usize = 200;

/// Texts that programs get wrong: paths, formats, quotes, characters without width or of several parts, and control characters.
const ODD_TEXTS: [&str; 17] = [
    "",
    "\0",
    "a\nb\r\nc",
    "../../../../etc/passwd",
    "%s%n%d",
    "'\"`\\",
    "$(id); `id` | id && id",
    "\u{202e}\u{5d0}\u{5d1} abc",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "\u{301}\u{308}",
    "\u{feff}\u{200b}\u{ffff}",
    "   ",
    "null",
    "NaN",
    "-1",
    "{\"a\": [1]}",
    "https://[::1]:99999/%zz?#",
];

/// Draws the arguments for the calls of a tool. The same seed and the same tool give the same arguments.
pub(super) struct Inputs {
    schema: Value,
    valid: BoxedStrategy<Json>,
    runner: TestRunner,
    /// Number of the next input. Valid, nearly valid, large and odd ones take turns.
    next: usize,
    seen: HashSet<String>,
}

impl Inputs {
    pub(super) fn new(tool: &Tool, seed: u64) -> Inputs {
        // The name of the tool is part of the seed, so that a tool gets the same arguments if it is tested alone.
        let of_name = tool
            .name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&of_name.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Inputs {
            schema: tool.input_schema.decode().unwrap_or_else(|_| json!({})),
            valid: arguments(&tool.input_schema),
            runner: TestRunner::new_with_rng(Config::default(), rng),
            next: 0,
            seen: HashSet::new(),
        }
    }

    /// Returns arguments that are valid by the schema, as far as the strategy knows its keywords.
    pub(super) fn valid(&mut self) -> Value {
        let drawn = self.valid.new_tree(&mut self.runner).ok().map(|tree| tree.current());
        drawn.and_then(|arguments| arguments.decode().ok()).unwrap_or_else(|| json!({}))
    }

    /// Returns the changes that turn the number `number` of a kind into other arguments, and the number without its kind.
    fn changes(&self, number: usize) -> (Vec<Change>, usize) {
        let mut changes = Vec::new();
        match number % 4 {
            1 => nearly_valid(&self.schema, &self.schema, &[], &mut changes),
            2 => large(&self.schema, &self.schema, &mut changes),
            3 => odd(&self.schema, &self.schema, &mut changes),
            _ => {}
        }
        (alternating(changes), number / 4)
    }
}

impl Iterator for Inputs {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        for _ in 0..MOST_REPEATED {
            let (changes, round) = self.changes(self.next);
            self.next += 1;
            let mut arguments = self.valid();
            if !changes.is_empty() {
                changes[round % changes.len()].apply(&mut arguments);
            }
            if self.seen.insert(arguments.to_string()) {
                return Some(arguments);
            }
        }
        None
    }
}

/// A change of arguments at a path of members.
struct Change {
    path: Vec<String>,
    /// The new value. `None` removes the member.
    value: Option<Value>,
}

impl Change {
    fn apply(&self, arguments: &mut Value) {
        let Some((last, parents)) = self.path.split_last() else { return };
        let mut object = arguments;
        for parent in parents {
            let Some(members) = object.as_object_mut() else { return };
            object = members.entry(parent).or_insert_with(|| Map::new().into());
        }
        let Some(members) = object.as_object_mut() else { return };
        match &self.value {
            Some(value) => drop(members.insert(last.clone(), value.clone())),
            None => drop(members.remove(last)),
        }
    }
}

/// Sorts changes so that members take turns: with few calls, each member is changed once before one is changed twice.
fn alternating(changes: Vec<Change>) -> Vec<Change> {
    let mut counts: HashMap<Vec<String>, usize> = HashMap::new();
    let mut ranked: Vec<(usize, Change)> = Vec::new();
    for change in changes {
        let count = counts.entry(change.path.clone()).or_default();
        ranked.push((*count, change));
        *count += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, change)| change).collect()
}

fn set(path: &[String], name: &str, value: Value) -> Change {
    Change { path: [path, &[name.to_owned()]].concat(), value: Some(value) }
}

/// Returns the properties of a schema, with references followed.
fn properties<'s>(schema: &'s Value, root: &'s Value) -> Vec<(&'s str, &'s Value)> {
    let members = resolved(schema, root).get("properties").and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, schema)| (&**name, resolved(schema, root))).collect()
}

fn is_kind(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        // A schema of alternatives, such as a text or `null`.
        _ => ["anyOf", "oneOf"]
            .iter()
            .filter_map(|keyword| schema.get(*keyword)?.as_array())
            .flatten()
            .any(|one| one.get("type").and_then(Value::as_str) == Some(kind)),
    }
}

/// Collects changes that each break one rule of the schema.
fn nearly_valid(schema: &Value, root: &Value, path: &[String], changes: &mut Vec<Change>) {
    /// Maximum depth of the members that are changed.
    const DEEPEST: usize = 3;
    let required = resolved(schema, root).get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        changes.push(Change { path: [path, &[name.to_owned()]].concat(), value: None });
    }
    for (name, schema) in properties(schema, root) {
        let wrong_kinds = [("string", json!(7)), ("integer", json!("seven")), ("number", json!("seven"))];
        let more_kinds = [("boolean", json!("yes")), ("array", json!({})), ("object", json!([]))];
        let wrong = wrong_kinds.into_iter().chain(more_kinds).find(|(kind, _)| is_kind(schema, kind));
        changes.extend(wrong.map(|(_, value)| set(path, name, value)));
        changes.extend((!is_kind(schema, "null")).then(|| set(path, name, Value::Null)));
        if schema.get("enum").is_some() || schema.get("const").is_some() {
            changes.push(set(path, name, "mcpwire-unknown".into()));
        }
        if is_kind(schema, "integer") {
            changes.push(set(path, name, 0.5.into()));
        }
        let (least, most) = limits(schema, 0.0);
        changes.extend(least.map(|least| set(path, name, json!(least.floor() - 1.0))));
        changes.extend(most.map(|most| set(path, name, json!(most.ceil() + 1.0))));
        let size =
            |keyword: &str| schema.get(keyword).and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok());
        let (text, items) = (|length| json!("a".repeat(length)), |length| json!(vec![Value::Null; length]));
        changes.extend(
            size("minLength").filter(|size| *size > 0).map(|size| set(path, name, text(size.min(LONG_TEXT) - 1))),
        );
        changes.extend(size("maxLength").filter(|size| *size < LONG_TEXT).map(|size| set(path, name, text(size + 1))));
        changes.extend(
            size("minItems").filter(|size| *size > 0).map(|size| set(path, name, items(size.min(LONG_ARRAY) - 1))),
        );
        changes.extend(size("maxItems").filter(|size| *size < LONG_ARRAY).map(|size| set(path, name, items(size + 1))));
        if path.len() < DEEPEST {
            nearly_valid(schema, root, &[path, &[name.to_owned()]].concat(), changes);
        }
    }
    if path.is_empty() {
        changes.push(set(path, UNKNOWN, json!(1)));
    }
}

/// Collects changes to long, deep and large values.
fn large(schema: &Value, root: &Value, changes: &mut Vec<Change>) {
    let long = |length: usize| Value::from("a".repeat(length));
    let deep = || (0..DEEP).fold(json!("a"), |inner, _| json!({"a": inner}));
    for (name, schema) in properties(schema, root) {
        let is_any = schema.get("type").is_none() && schema.get("enum").is_none();
        let mut add = |value: Value| changes.push(set(&[], name, value));
        if is_kind(schema, "string") && schema.get("enum").is_none() {
            add(long(LONG_TEXT));
            add(long(2_000));
            let most = schema.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
            most.filter(|most| *most <= LONG_TEXT).into_iter().for_each(|most| add(long(most)));
        }
        if is_kind(schema, "integer") || is_kind(schema, "number") {
            for number in [i64::MAX, i64::MIN, 1 << 53, -1] {
                add(number.into());
            }
        }
        if is_kind(schema, "number") {
            for number in [1e308, -1e308, 5e-324] {
                add(number.into());
            }
        }
        if is_kind(schema, "array") {
            let of_text = schema.get("items").is_none_or(|item| is_kind(resolved(item, root), "string"));
            add(vec![if of_text { json!("a") } else { json!(1) }; LONG_ARRAY].into());
            add(json!([]));
        }
        if is_kind(schema, "object") || is_any {
            add(deep());
            add((0..LONG_ARRAY).map(|n| (format!("key{n}"), json!(n))).collect());
        }
    }
    if changes.is_empty() {
        changes.push(set(&[], UNKNOWN, long(LONG_TEXT)));
        changes.push(set(&[], UNKNOWN, deep()));
    }
}

/// Collects changes to odd texts. A tool without arguments that are texts gets members with odd names.
fn odd(schema: &Value, root: &Value, changes: &mut Vec<Change>) {
    let is_text = |(_, schema): &(&str, &Value)| is_kind(schema, "string") && schema.get("enum").is_none();
    let texts: Vec<&str> = properties(schema, root).into_iter().filter(is_text).map(|(name, _)| name).collect();
    for (number, text) in ODD_TEXTS.into_iter().enumerate() {
        changes.push(match texts.get(number % texts.len().max(1)) {
            Some(name) => set(&[], name, text.into()),
            None => set(&[], text, json!(1)),
        });
    }
}

#[cfg(test)]
mod tests {
    use mcpwire_driver::protocol::Validator as _;
    use mcpwire_jsonschema::JsonSchema;

    use super::*;

    fn tool(schema: &Value) -> Tool {
        Json::from(json!({"name": "t", "inputSchema": schema})).decode().expect("a tool")
    }

    fn inputs(schema: &Value, seed: u64) -> Vec<Value> {
        Inputs::new(&tool(schema), seed).take(60).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_arguments() {
        let schema = json!({"properties": {"a": {"type": "string"}, "n": {"type": "integer"}}, "required": ["a"]});
        assert_eq!(inputs(&schema, 7), inputs(&schema, 7));
        assert_ne!(inputs(&schema, 7), inputs(&schema, 8));
    }

    #[test]
    fn each_rule_of_a_schema_is_broken_alone() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["text", "kind"], "properties": {
            "text": {"type": "string", "minLength": 2, "maxLength": 4},
            "kind": {"enum": ["a", "b"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 5},
            "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
            "deep": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]}
        }});
        let (validator, json) = (JsonSchema::new(), Json::from(&schema));
        let mut changes = Vec::new();
        nearly_valid(&schema, &schema, &[], &mut changes);
        let valid = json!({"text": "abc", "kind": "a", "count": 2, "list": [1], "deep": {"on": true}});
        validator.validate(&json, &Json::from(&valid)).expect("valid");
        for change in &changes {
            let mut arguments = valid.clone();
            change.apply(&mut arguments);
            assert!(validator.validate(&json, &Json::from(&arguments)).is_err(), "{arguments}");
        }
        assert!(changes.len() >= 20, "{}", changes.len());
    }

    #[test]
    fn with_few_calls_each_member_is_changed() {
        let schema = json!({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}});
        let inputs: Vec<Value> = Inputs::new(&tool(&schema), 1).take(8).collect();
        assert!(inputs.iter().any(|input| input["a"] == i64::MAX), "{inputs:?}");
        assert!(inputs.iter().any(|input| input["b"].as_str().is_some_and(|text| text.len() == LONG_TEXT)));
    }

    #[test]
    fn all_kinds_of_arguments_occur() {
        let schema = json!({"properties": {"a": {"type": "string"}, "list": {"type": "array"}}, "required": ["a"]});
        let inputs = inputs(&schema, 1);
        assert_eq!(inputs.len(), 60);
        let has = |what: &dyn Fn(&Value) -> bool| assert!(inputs.iter().any(what));
        has(&|input| input.get("a").is_none());
        has(&|input| input["a"].as_str().is_some_and(|text| text.len() == LONG_TEXT));
        has(&|input| input["a"] == "\0");
        has(&|input| input["list"].as_array().is_some_and(|items| items.len() == LONG_ARRAY));
        has(&|input| input.get(UNKNOWN).is_some());
    }

    #[test]
    fn a_tool_without_arguments_has_few_inputs() {
        let inputs = inputs(&json!({"type": "object"}), 1);
        assert!(inputs.contains(&json!({})) && inputs.len() < 40, "{}", inputs.len());
    }
}
