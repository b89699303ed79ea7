//! Simplifies the JSON Schemas of servers to what [`types`](crate::types) turns into Rust types.
//!
//! A schema of a server can be of any draft, recursive, contradictory or hostile. [`simplify`] copies only the keywords that
//! determine a type: `type`, `properties`, `required`, `items`, `additionalProperties`, `enum`, `oneOf`, `anyOf` and references. The
//! others become documentation or are left out, so a simplified schema accepts all that the schema accepts. What has no type in
//! Rust accepts any JSON value, or any JSON object, and its documentation says why.
//!
//! Each type has a definition of its own, whose name is unique. References are never fetched.

mod description;
mod forms;
mod objects;
mod simplifier;
#[cfg(test)]
mod tests;
mod unions;
mod values;

use serde_json::{Map, Value};

use self::forms::{REASON, definition_of, is_any, is_any_object};
use self::simplifier::Simplifier;
use crate::names::TypeNames;

/// A simplified schema.
pub(crate) struct Simple {
    pub(crate) schema: Value,
    /// The definitions that the schema refers to, by the names of their types.
    pub(crate) definitions: Map<String, Value>,
}

impl Simple {
    /// Returns whether the schema accepts any JSON object, or any JSON value, so that it needs no type of its own.
    pub(crate) fn is_untyped(&self) -> bool {
        is_any(&self.schema) || is_any_object(&self.schema)
    }

    /// Returns why the schema has no type, or `None` if it says nothing about the values.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.schema.get(REASON).and_then(Value::as_str)
    }

    /// Sets the documentation of a type without a description.
    pub(crate) fn describe(&mut self, markdown: &str) {
        if self.schema.get("description").is_none() {
            self.schema["description"] = Value::String(markdown.to_owned());
        }
    }
}

/// Simplifies a schema. `name` is the name of its type, and `names` contains the names of all types that are in the same module.
pub(crate) fn simplify(schema: &Value, name: &str, names: &mut TypeNames) -> Simple {
    let mut simplifier = Simplifier::new(schema, names);
    let schema = simplifier.simplify(schema, name, 0);
    let mut definitions = Map::new();
    keep_used(&schema, &mut simplifier.definitions, &mut definitions);
    Simple { schema, definitions }
}

/// Moves the definitions that a schema refers to from `from` to `to`.
fn keep_used(schema: &Value, from: &mut Map<String, Value>, to: &mut Map<String, Value>) {
    if let Some(name) = definition_of(schema)
        && let Some(definition) = from.remove(name)
    {
        keep_used(&definition, from, to);
        to.insert(name.to_owned(), definition);
    }
    match schema {
        Value::Array(items) => items.iter().for_each(|item| keep_used(item, from, to)),
        Value::Object(members) => members.values().for_each(|member| keep_used(member, from, to)),
        _ => {}
    }
}
