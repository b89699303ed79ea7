//! Objects: their properties, also those that `allOf`, `anyOf`, `oneOf` and conditions add.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::forms::{any_object, branches, has_type, or_null, resolve, types};
use super::simplifier::Simplifier;
use crate::docs::one_line;
use crate::names;

/// Maximum number of properties of a type.
const MOST_PROPERTIES: usize = 500;

/// Maximum number of references and combinations to follow from one object.
const DEEPEST_COMBINATION: usize = 8;

/// The properties of an object, from all parts of its schema.
#[derive(Default)]
struct Members<'s> {
    properties: BTreeMap<&'s str, &'s Value>,
    required: BTreeSet<&'s str>,
    /// The schema of all other properties, if it is not simply `true`.
    additional: Option<&'s Value>,
}

impl<'s> Simplifier<'s> {
    /// Returns whether a schema is that of an object.
    pub(super) fn is_object(&self, schema: &Map<String, Value>) -> bool {
        let names = types(schema);
        if names.iter().any(|name| name != "object" && name != "null") {
            return false;
        }
        let has_members =
            ["properties", "additionalProperties", "patternProperties"].iter().any(|key| schema.contains_key(*key));
        let is_combined = || {
            let members = schema.get("allOf").and_then(Value::as_array);
            members.is_some_and(|members| members.iter().any(|member| self.is_object_at(member, 0)))
        };
        // The branches of a bare object are types of their own.
        let is_bare_union = !has_members && branches(schema).iter().any(has_type);
        (names.iter().any(|name| name == "object") && !is_bare_union) || has_members || is_combined()
    }

    fn is_object_at(&self, schema: &Value, depth: usize) -> bool {
        let Some(schema) = self.follow(schema).filter(|_| depth <= DEEPEST_COMBINATION) else { return false };
        let members = schema.get("allOf").and_then(Value::as_array);
        schema.get("type") == Some(&json!("object"))
            || schema.get("properties").is_some()
            || members.is_some_and(|members| members.iter().any(|member| self.is_object_at(member, depth + 1)))
    }

    /// Returns the schema, or the target of its reference within the document.
    fn follow<'a>(&self, schema: &'a Value) -> Option<&'a Value>
    where
        's: 'a,
    {
        let mut schema = schema;
        for _ in 0..DEEPEST_COMBINATION {
            match schema.get("$ref").and_then(Value::as_str) {
                None => return Some(schema),
                Some(target) => schema = resolve(self.document, target.strip_prefix('#')?)?,
            }
        }
        None
    }

    /// Simplifies the schema of an object. Without properties, it accepts any object.
    pub(super) fn object(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Value {
        let owned = Value::Object(schema.clone());
        let mut members = Members::default();
        self.collect(&owned, false, &mut members, 0);
        if let Some(reason) = refusal(&members) {
            return any_object(&reason);
        }
        let Members { properties, required, additional } = members;
        let mut object = json!({ "type": "object" });
        if !properties.is_empty() {
            let types: Map<String, Value> = properties
                .iter()
                .map(|(key, property)| {
                    let simple = self.simplify_nested(property, key, depth + 1);
                    // An optional list is an `Option`, so that a program can send an empty one.
                    let is_collection = matches!(simple["type"].as_str(), Some("array" | "object"));
                    let simple = if is_collection && !required.contains(key) { or_null(simple) } else { simple };
                    ((*key).to_owned(), simple)
                })
                .collect();
            object["required"] = required.iter().filter(|key| properties.contains_key(*key)).copied().collect();
            object["properties"] = types.into();
        }
        if let Some(additional) = additional {
            object["additionalProperties"] = self.simplify_nested(additional, &format!("{name} value"), depth + 1);
        }
        object
    }

    /// Adds the members that a schema and its combinations have. `is_optional` says whether the schema holds for some objects only.
    fn collect<'a>(&self, schema: &'a Value, is_optional: bool, members: &mut Members<'a>, depth: usize)
    where
        's: 'a,
    {
        let Some(Value::Object(schema)) = self.follow(schema).filter(|_| depth <= DEEPEST_COMBINATION) else { return };
        for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            // `false` says that there is no such property.
            if property != &Value::Bool(false) {
                members.properties.entry(key).or_insert(property);
            }
        }
        if !is_optional {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            members.required.extend(required.filter_map(Value::as_str));
        }
        if let Some(additional @ Value::Object(keywords)) = schema.get("additionalProperties")
            && !keywords.is_empty()
        {
            members.additional.get_or_insert(additional);
        }
        for member in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.collect(member, is_optional, members, depth + 1);
        }
        let lists = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array()).flatten();
        let conditions = ["then", "else"].iter().filter_map(|key| schema.get(*key));
        for member in lists.chain(conditions) {
            self.collect(member, true, members, depth + 1);
        }
    }
}

/// Returns why the properties of an object cannot be fields of a type.
fn refusal(members: &Members<'_>) -> Option<String> {
    if members.properties.len() > MOST_PROPERTIES {
        return Some(format!("it has more than {MOST_PROPERTIES} properties"));
    }
    let mut fields = BTreeMap::new();
    if members.additional.is_some() {
        fields.insert("extra".to_owned(), "(all others)");
    }
    for key in members.properties.keys() {
        if !key.is_ascii() || key.len() > names::LONGEST {
            return Some(format!("the name of a property is too long, or has letters beyond ASCII: {}", quoted(key)));
        }
        if let Some(other) = fields.insert(names::field(key), key) {
            return Some(format!("these properties have the same name in Rust: {} and {}", quoted(other), quoted(key)));
        }
    }
    None
}

fn quoted(key: &str) -> String {
    format!("\"{}\"", one_line(key, 100))
}
