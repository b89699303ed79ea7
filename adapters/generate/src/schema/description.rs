//! The documentation of a subschema: its description, and the constraints that types in Rust do not have.

use serde_json::{Map, Value};

use super::forms::{REASON, is_any};
use crate::docs::{markdown, one_line};

/// The keywords that are shown, with their names in a sentence.
const SHOWN: [(&str, &str); 14] = [
    ("default", "default"),
    ("format", "format"),
    ("pattern", "pattern"),
    ("minimum", "at least"),
    ("exclusiveMinimum", "more than"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "less than"),
    ("multipleOf", "a multiple of"),
    ("minLength", "shortest length"),
    ("maxLength", "longest length"),
    ("minItems", "fewest elements"),
    ("maxItems", "most elements"),
    ("contentMediaType", "content"),
    ("contentEncoding", "encoding"),
];

/// Adds the documentation of `schema` to its simplified form. What is there already says how the simplified form differs.
/// `name` is the name of the property: a title that repeats the name is left out.
pub(super) fn add(simple: &mut Value, schema: &Map<String, Value>, name: &str) {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let is_telling = |title: &&str| letters(title) != letters(name);
    let described = text("description").or_else(|| text("title").filter(is_telling)).map(markdown);
    let shown = SHOWN.iter().filter_map(|(key, name)| {
        let value = match schema.get(*key)? {
            Value::Null if *key == "default" => return None,
            Value::String(text) if *key != "default" => text.clone(),
            value => value.to_string(),
        };
        Some(format!("{name} {}", one_line(&value, 200)))
    });
    let constraints = shown.collect::<Vec<_>>().join("; ");
    let constraints = (!constraints.is_empty()).then(|| markdown(&format!("{}.", capitalized(&constraints))));
    let difference = simple.get("description").and_then(Value::as_str).map(str::to_owned);
    let reason = simple.get(REASON).and_then(Value::as_str).map(|reason| {
        let kind = if is_any(simple) { "value" } else { "object" };
        markdown(&format!("Any JSON {kind}, because {reason}."))
    });
    // The documentation of a definition is that of its references, too, and has the reason already.
    let reason = reason.filter(|reason| difference.as_ref().is_none_or(|text| !text.ends_with(reason)));
    let paragraphs = [described, constraints, difference, reason].into_iter().flatten();
    let paragraphs: Vec<String> = paragraphs.filter(|text| !text.is_empty()).collect();
    if let (false, Some(simple)) = (paragraphs.is_empty(), simple.as_object_mut()) {
        simple.insert("description".into(), Value::String(paragraphs.join("\n\n")));
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
