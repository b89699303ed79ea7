//! Alternatives: `anyOf`, `oneOf`, and several types.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::forms::{any, any_object, definition_of, is_any, is_nullable, or_null};
use super::simplifier::Simplifier;
use super::values::{are_distinct, of_values};

impl Simplifier<'_> {
    /// Simplifies alternatives. In Rust, they are an enum if the type of the JSON value tells them apart, or a property that has
    /// another constant value in each.
    pub(super) fn union(&mut self, branches: &[Value], name: &str, depth: usize) -> Value {
        let mut simple: Vec<Value> = Vec::new();
        let mut allows_null = false;
        for branch in branches {
            let branch = self.simplify(branch, name, depth + 1);
            let nested = branch.get("oneOf").and_then(Value::as_array).filter(|nested| is_nullable(nested));
            let branch = match nested {
                Some(nested) => {
                    allows_null = true;
                    nested[1].clone()
                }
                None => branch,
            };
            match kind(&branch) {
                Kind::Null => allows_null = true,
                Kind::Any => return any("one of its alternatives is any value"),
                _ if simple.contains(&branch) => {}
                _ => simple.push(branch),
            }
        }
        let single = self.merge(simple, name);
        if allows_null { or_null(self.define(single, name)) } else { single }
    }

    /// Makes one schema of the alternatives that are not `null`.
    fn merge(&mut self, branches: Vec<Value>, name: &str) -> Value {
        if branches.len() == 1 {
            return branches.into_iter().next().unwrap_or_default();
        }
        if branches.iter().all(|branch| self.kind_of(branch) == Kind::Object)
            && let Some(tagged) = self.tagged(&branches)
        {
            return tagged;
        }
        let mut merged: Vec<(Kind, Value)> = Vec::new();
        for branch in branches {
            let kind = match self.kind_of(&branch) {
                Kind::Any => return any("its alternatives cannot be told apart"),
                kind => kind,
            };
            match merged.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, first)) => *first = self.both(kind, first, &branch),
                None => merged.push((kind, branch)),
            }
        }
        if merged.len() == 1 {
            return merged.pop().map(|(_, only)| only).unwrap_or_default();
        }
        let branches = merged.into_iter().map(|(kind, branch)| {
            let suffix = match kind {
                Kind::String => "text",
                Kind::Object => "object",
                _ => "value",
            };
            self.define(branch, &format!("{name} {suffix}"))
        });
        json!({ "anyOf": branches.collect::<Vec<_>>() })
    }

    /// Returns a schema that accepts what two schemas of one kind accept.
    fn both(&self, kind: Kind, first: &Value, second: &Value) -> Value {
        match kind {
            Kind::String => match (self.listed(first), self.listed(second)) {
                (Some(first), Some(second)) => of_values(&[first, second].concat()),
                _ => json!({ "type": "string" }),
            },
            Kind::Number => json!({ "type": "number" }),
            Kind::Array => json!({ "type": "array" }),
            Kind::Object => any_object("no property tells the alternatives apart"),
            _ => first.clone(),
        }
    }

    fn listed(&self, simple: &Value) -> Option<Vec<Value>> {
        self.resolved(simple).get("enum").and_then(Value::as_array).cloned()
    }

    /// Returns an enum whose variants differ by a property with a constant value, or `None` if there is no such property.
    fn tagged(&self, branches: &[Value]) -> Option<Value> {
        let branches: Vec<Value> = branches.iter().map(|branch| self.resolved(branch).clone()).collect();
        let keys = branches.first()?.get("properties")?.as_object()?.keys();
        let tag = keys.into_iter().find(|key| {
            let values: Option<BTreeSet<String>> = branches.iter().map(|branch| self.tag_of(branch, key)).collect();
            values.is_some_and(|values| {
                values.len() == branches.len() && are_distinct(&values.iter().map(String::as_str).collect::<Vec<_>>())
            })
        })?;
        let variants = branches.iter().map(|branch| {
            let mut variant = branch.clone();
            // Only an enum with its values in place is recognized as a tag.
            variant["properties"][tag] = json!({ "type": "string", "enum": [self.tag_of(branch, tag)] });
            variant
        });
        Some(json!({ "oneOf": variants.collect::<Vec<_>>() }))
    }

    /// Returns the only value of a required property.
    fn tag_of(&self, branch: &Value, key: &str) -> Option<String> {
        // Fields for other properties cannot be next to a tag.
        if branch.get("additionalProperties").is_some() {
            return None;
        }
        let is_required = branch.get("required")?.as_array()?.iter().any(|required| required == key);
        match self.listed(branch.get("properties")?.get(key)?)?.as_slice() {
            [Value::String(only)] if is_required => Some(only.clone()),
            _ => None,
        }
    }

    fn resolved<'v>(&'v self, simple: &'v Value) -> &'v Value {
        definition_of(simple).and_then(|name| self.definitions.get(name)).unwrap_or(simple)
    }

    /// Returns the kind of a schema, also if it is a reference. A definition that is not complete yet can be anything.
    fn kind_of(&self, simple: &Value) -> Kind {
        match definition_of(simple) {
            Some(name) => self.definitions.get(name).map_or(Kind::Any, kind),
            None if simple.get("$ref").is_some() => Kind::Any,
            None => kind(simple),
        }
    }
}

/// What the type of a JSON value tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
    /// Not known: any value, or several kinds.
    Any,
    Reference,
}

fn kind(simple: &Value) -> Kind {
    match simple.get("type").and_then(Value::as_str) {
        Some("null") => Kind::Null,
        Some("boolean") => Kind::Boolean,
        Some("number" | "integer") => Kind::Number,
        Some("string") => Kind::String,
        Some("array") => Kind::Array,
        Some("object") => Kind::Object,
        _ if simple.get("$ref").is_some() => Kind::Reference,
        _ if is_any(simple) => Kind::Any,
        // The variants of a tagged enum are objects.
        _ => match simple.get("oneOf").and_then(Value::as_array) {
            Some(variants) if variants.iter().all(|variant| kind(variant) == Kind::Object) => Kind::Object,
            _ => Kind::Any,
        },
    }
}
