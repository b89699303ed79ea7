//! Checks arguments against the schema of the tool before a call, and writes an example of a call.

use mcpwire_jsonschema::JsonSchema;
use mcpwire_tokio::protocol::{Json, Tool, ValidationError, Validator};

use crate::schema::{Node, Parameters, Types};
use crate::show;
use crate::text;

/// Maximum length of a value in an example, in characters. A longer one is shown as `...`.
const LONGEST_VALUE: usize = 60;
/// Maximum length of an example in a schema that is read, in characters.
const LONGEST_EXAMPLE: usize = 1_000;
/// Maximum number of optional arguments that were given to repeat in an example.
const MOST_WORDS: usize = 12;

/// Checks the arguments of a call against the `inputSchema` of the tool: arguments that are missing, arguments that the tool does
/// not know, and values that do not match. A schema that cannot be used allows everything.
///
/// # Errors
/// What is wrong, such as `missing argument: b`.
pub(crate) fn check(tool: &Tool, parameters: &Parameters<'_>, arguments: &Json) -> Result<(), String> {
    let Ok(given) = arguments.decode::<serde_json::Map<String, serde_json::Value>>() else { return Ok(()) };
    let missing: Vec<&str> = parameters.required().iter().copied().filter(|name| !given.contains_key(*name)).collect();
    let unknown: Vec<&str> = given.keys().map(String::as_str).filter(|name| parameters.is_unknown(name)).collect();
    let mut problems = Vec::new();
    if !missing.is_empty() {
        problems.push(format!("missing {}: {}", noun(&missing), joined(&missing)));
    }
    if !unknown.is_empty() {
        let free = parameters.properties().iter().filter(|(name, _)| !given.contains_key(*name));
        let nearest = text::nearest(unknown[0], free.map(|(name, _)| (*name, *name)));
        let instead = nearest.map(|name| format!(" (did you mean {}?)", text::name(name))).unwrap_or_default();
        problems.push(format!("unknown {}: {}{instead}", noun(&unknown), joined(&unknown)));
    }
    if !problems.is_empty() {
        return Err(problems.join("; "));
    }
    match JsonSchema::new().validate(&tool.input_schema, arguments) {
        Err(ValidationError::Value { at, reason, .. }) => {
            let path = at.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~");
            let place = if path.is_empty() {
                "wrong arguments".to_owned()
            } else {
                format!("wrong argument: {}", text::name(&path))
            };
            Err(format!("{place}: {}", text::short(&reason, 200)))
        }
        _ => Ok(()),
    }
}

/// Returns the word for this number of arguments.
fn noun(names: &[&str]) -> &'static str {
    if names.len() == 1 { "argument" } else { "arguments" }
}

fn joined(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| text::name(name)).collect();
    names.join(", ")
}

/// Returns the signature of the tool, and a command line that calls it: with the given arguments where they are known to the tool,
/// and with example values for the required ones. `target` are the words that select the server.
pub(crate) fn usage(
    tool: &Tool,
    parameters: &Parameters<'_>,
    given: Option<&Json>,
    called: &str,
    target: &str,
) -> String {
    let given =
        given.and_then(|given| given.decode::<serde_json::Map<String, serde_json::Value>>().ok()).unwrap_or_default();
    let mut words = vec!["mcpwire call".to_owned(), called.to_owned()];
    let mut repeated = 0;
    for &(name, schema) in parameters.properties() {
        let is_required = parameters.required().contains(&name);
        let value = given.get(name).filter(|value| parameters.takes(schema, value));
        repeated += usize::from(value.is_some() && !is_required);
        if value.is_none() && !is_required || repeated > MOST_WORDS {
            continue;
        }
        let value = value.cloned().unwrap_or_else(|| parameters.example(schema, 0));
        words.push(word(name, &value, parameters.types(schema, 0)));
    }
    if !target.is_empty() {
        words.push(target.to_owned());
    }
    format!("  {}\n  {}", show::one_line(tool), words.join(" "))
}

/// Writes an argument as a word of the command line.
fn word(name: &str, value: &serde_json::Value, types: Types) -> String {
    let plain = value.as_str().filter(|text| types.has(Types::STRING) && !text.starts_with('@'));
    let sign = if plain.is_none() && (types.has(Types::STRING) || value.is_string()) { ":=" } else { "=" };
    let value = plain.map_or_else(|| value.to_string(), str::to_owned);
    if value.len() > LONGEST_VALUE {
        return format!("{}=...", text::word(name));
    }
    text::word(&format!("{name}{sign}{value}"))
}

impl<'a> Parameters<'a> {
    /// Returns whether a value has a type that the schema allows, is one of the values that it lists, and is within its limits.
    fn takes(&self, schema: &'a Node, value: &serde_json::Value) -> bool {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let listed = self.listed_values(schema);
        let bound = |keyword| schema.get(keyword).and_then(|bound| bound.literal(LONGEST_VALUE).parse::<f64>().ok());
        let is_within = |number: f64| {
            bound("minimum").is_none_or(|least| number >= least) && bound("maximum").is_none_or(|most| number <= most)
        };
        self.types(schema, 0).has(Types::of_text(&value.to_string()))
            && (listed.is_empty() || listed.contains(&text))
            && value.as_f64().is_none_or(is_within)
    }

    /// Returns a value for an argument, to show how it is given: an example of the schema, its default, or a value of its type.
    fn example(&self, schema: &'a Node, depth: usize) -> serde_json::Value {
        use serde_json::Value;
        let literal = |node: &Node| serde_json::from_str(&node.literal(LONGEST_EXAMPLE)).unwrap_or(Value::Null);
        let listed = |keyword| schema.get(keyword).and_then(Node::as_array).and_then(<[Node]>::first);
        let kept = listed("examples").or_else(|| schema.get("default").filter(|default| **default != Node::Null));
        if let Some(value) = kept.or_else(|| schema.get("const")).or_else(|| listed("enum")) {
            return literal(value);
        }
        if depth > 3 {
            return Value::Null;
        }
        if let Some(part) = self.parts(schema).into_iter().skip(1).find(|part| self.types(part, 0) != Types::NULL) {
            return self.example(part, depth + 1);
        }
        let types = self.types(schema, 0);
        let bound = |keyword| schema.get(keyword).map(literal);
        if types.has(Types::STRING) {
            return Value::from(match schema.get("format").and_then(Node::as_str) {
                Some("uri" | "url") => "https://example.com",
                Some("email") => "ada@example.com",
                Some("date") => "2026-01-31",
                Some("date-time") => "2026-01-31T12:00:00Z",
                _ => "TEXT",
            });
        }
        if types.has(Types::INTEGER) {
            return bound("minimum").or_else(|| bound("maximum")).unwrap_or_else(|| Value::from(1));
        }
        if types.has(Types::BOOLEAN) {
            return Value::from(true);
        }
        if types.has(Types::ARRAY) {
            let items = self.items(schema).map(|items| self.example(items, depth + 1));
            return Value::from_iter(items);
        }
        if types.has(Types::OBJECT) {
            let inner = Parameters::of_object(schema, self.root);
            let members = inner.required().iter().filter_map(|name| Some((*name, inner.get(name)?)));
            return members
                .map(|(name, schema)| (name.to_owned(), self.example(schema, depth + 1)))
                .collect::<serde_json::Map<_, _>>()
                .into();
        }
        Value::Null
    }
}
