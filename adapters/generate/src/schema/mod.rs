//! Simplifies the JSON Schemas of servers to what [`types`](crate::types) turns into Rust types.
//!
//! A schema of a server can be of any draft, recursive, contradictory or hostile. [`simplify`] copies only the keywords that
//! determine a type: `type`, `properties`, `required`, `items`, `additionalProperties`, `enum`, `oneOf`, `anyOf` and references. The
//! others become documentation or are left out, so a simplified schema accepts all that the schema accepts. What has no type in
//! Rust accepts any JSON value, or any JSON object, and its documentation says why.
//!
//! Each type has a definition of its own, whose name is unique. References are never fetched.

mod description;
mod objects;
mod unions;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::docs::one_line;
use crate::names::TypeNames;

/// Maximum depth of subschemas. Types in Rust that are nested more deeply are of no use.
const DEEPEST: usize = 24;

/// Maximum number of subschemas in a schema, counted for each use. The largest schema of a known tool has about 700. The limit
/// bounds the time to generate and to compile a module.
const MOST_SUBSCHEMAS: usize = 4_000;

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
    let mut simplifier = Simplifier {
        document: schema,
        names,
        definitions: Map::new(),
        references: BTreeMap::from([("#".to_owned(), Reference { is_used: true, result: json!({"$ref": "#"}) })]),
        open: vec!["#".to_owned()],
        subschemas: 0,
    };
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

struct Simplifier<'s> {
    document: &'s Value,
    names: &'s mut TypeNames,
    definitions: Map<String, Value>,
    /// The subschemas that are referred to, by their JSON pointers.
    references: BTreeMap<String, Reference>,
    /// The pointers of the subschemas that are being simplified, since the last property or element. A reference to one of them
    /// would be a value that contains itself.
    open: Vec<String>,
    subschemas: usize,
}

struct Reference {
    /// What takes the place of a reference: a reference to a definition, or a schema without a type of its own.
    result: Value,
    /// Whether the definition is referred to while it is being simplified.
    is_used: bool,
}

impl Simplifier<'_> {
    /// Simplifies a schema in place. `name` is a suggestion for the names of types within it.
    fn simplify(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        self.subschemas += 1;
        if depth > DEEPEST || self.subschemas > MOST_SUBSCHEMAS {
            return any("the schema is too large or nested too deeply");
        }
        let Some(keywords) = schema.as_object() else { return any("") };
        let mut simple = self.shape(keywords, name, depth);
        description::add(&mut simple, keywords, name);
        simple
    }

    /// Simplifies the schema of a property, an element or a variant: a type in it becomes a definition.
    fn simplify_nested(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let open = std::mem::take(&mut self.open);
        let simple = self.simplify(schema, name, depth);
        self.open = open;
        self.define(simple, name)
    }

    /// Moves a schema that needs a type of its own to the definitions, and returns a reference to it.
    fn define(&mut self, simple: Value, name: &str) -> Value {
        if !needs_type(&simple) {
            return simple;
        }
        let name = self.names.add(name);
        let mut reference = reference_to(&name);
        if let Some(description) = simple.get("description") {
            reference["description"] = description.clone();
        }
        self.definitions.insert(name, simple);
        reference
    }

    fn shape(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Value {
        if let Some(target) = schema.get("$ref") {
            return self.reference(target.as_str().unwrap_or_default(), depth);
        }
        if schema.contains_key("$dynamicRef") || schema.contains_key("$recursiveRef") {
            return any("its schema has a dynamic reference");
        }
        if let Some(value) = schema.get("const") {
            return unions::of_values(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return unions::of_values(values);
        }
        if let Some(only) = self.only_member(schema) {
            return self.simplify(&only, name, depth + 1);
        }
        if self.is_object(schema) {
            let object = self.object(schema, name, depth);
            return if allows_null(schema) { or_null(self.define(object, name)) } else { object };
        }
        let branches = branches(schema);
        if !branches.is_empty() && branches.iter().all(|branch| has_type(branch)) {
            return self.union(&branches, name, depth);
        }
        let types = types(schema);
        match types.as_slice() {
            [] if schema.contains_key("items") || schema.contains_key("prefixItems") => self.array(schema, name, depth),
            [] => any(""),
            [only] => self.of_type(only, schema, name, depth),
            several => {
                let branches = several.iter().map(|only| {
                    let mut branch = schema.clone();
                    branch.insert("type".into(), json!(only));
                    branch.remove("nullable");
                    Value::Object(branch)
                });
                self.union(&branches.collect::<Vec<_>>(), name, depth)
            }
        }
    }

    fn of_type(&mut self, only: &str, schema: &Map<String, Value>, name: &str, depth: usize) -> Value {
        match only {
            "string" | "boolean" | "number" | "null" => json!({ "type": only }),
            "integer" => integer(schema),
            "array" => self.array(schema, name, depth),
            "object" => self.object(schema, name, depth),
            _ => any(""),
        }
    }

    fn array(&mut self, schema: &Map<String, Value>, name: &str, depth: usize) -> Value {
        match schema.get("items") {
            Some(items @ Value::Object(_)) if !schema.contains_key("prefixItems") => {
                json!({ "type": "array", "items": self.simplify_nested(items, &format!("{name} item"), depth + 1) })
            }
            // Tuples have no names for their elements, and their length may vary.
            _ => json!({ "type": "array" }),
        }
    }

    /// Simplifies a reference within the schema. No other schema is fetched.
    fn reference(&mut self, target: &str, depth: usize) -> Value {
        let Some(pointer) = target.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
        else {
            let target = one_line(target, 100);
            return any(&format!("its schema is elsewhere, and was not fetched: {target}"));
        };
        if self.open.iter().any(|open| open == target) {
            return any("its schema refers to itself");
        }
        if let Some(reference) = self.references.get_mut(target) {
            reference.is_used = true;
            return reference.result.clone();
        }
        let Some(schema) = resolve(self.document, pointer) else {
            return any("its schema refers to a part that does not exist");
        };
        let last = pointer.rsplit('/').find(|part| !matches!(*part, "items" | "properties")).unwrap_or_default();
        let name = self.names.add(&decode_pointer(last));
        let result = reference_to(&name);
        self.references.insert(target.to_owned(), Reference { result, is_used: false });
        self.open.push(target.to_owned());
        let simple = self.simplify(schema, &name, depth + 1);
        self.open.pop();
        let is_used = self.references.get(target).is_some_and(|reference| reference.is_used);
        if needs_type(&simple) || is_used {
            self.definitions.insert(name.clone(), simple);
            return reference_to(&name);
        }
        self.names.remove(&name);
        if let Some(reference) = self.references.get_mut(target) {
            reference.result = simple.clone();
        }
        simple
    }

    /// Returns the only member of `allOf` that says more than a constraint, if the schema itself says nothing more.
    fn only_member(&self, schema: &Map<String, Value>) -> Option<Value> {
        let members = schema.get("allOf")?.as_array()?;
        let mut typed = members.iter().filter(|member| has_type(member));
        let only = typed.next().filter(|_| typed.next().is_none())?;
        let is_bare =
            ["properties", "anyOf", "oneOf", "additionalProperties"].iter().all(|key| !schema.contains_key(*key));
        let has_fields = |member: &Value| member.get("properties").is_some();
        let others_have_fields = members.iter().any(|member| !has_type(member) && has_fields(member));
        (is_bare && !others_have_fields).then(|| only.clone())
    }
}

/// Returns the subschema at a JSON pointer, which may be percent-encoded.
fn resolve<'s>(document: &'s Value, pointer: &str) -> Option<&'s Value> {
    document.pointer(pointer).or_else(|| {
        let mut at = document;
        for part in pointer.split('/').skip(1) {
            let part = decode_pointer(part);
            at = match at {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                other => other.get(&part)?,
            };
        }
        Some(at)
    })
}

fn decode_pointer(part: &str) -> String {
    part.replace("%24", "$").replace("%20", " ").replace("%25", "%").replace("~1", "/").replace("~0", "~")
}

fn reference_to(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// Returns the name of the definition that a simplified schema refers to.
fn definition_of(simple: &Value) -> Option<&str> {
    simple.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/definitions/"))
}

/// The keyword in a simplified schema that says why it accepts any value or any object.
const REASON: &str = "x-reason";

/// Returns a schema that accepts any JSON value. `reason` says why it has no type in Rust. It is empty if the schema accepts any
/// value, too.
fn any(reason: &str) -> Value {
    if reason.is_empty() { json!({}) } else { json!({ REASON: reason }) }
}

/// Returns a schema that accepts any JSON object. `reason` says why it has no type in Rust.
fn any_object(reason: &str) -> Value {
    json!({ "type": "object", REASON: reason })
}

fn is_any(simple: &Value) -> bool {
    simple.as_object().is_some_and(|keywords| keywords.keys().all(|key| key == "description" || key == REASON))
}

fn is_any_object(simple: &Value) -> bool {
    simple.get("type").is_some_and(|only| only == "object")
        && ["properties", "additionalProperties"].iter().all(|key| simple.get(*key).is_none())
}

/// Returns whether a simplified schema needs a type of its own in Rust.
fn needs_type(simple: &Value) -> bool {
    let is_union = |key| simple.get(key).and_then(Value::as_array).is_some_and(|branches| !is_nullable(branches));
    simple.get("properties").is_some() || simple.get("enum").is_some() || is_union("oneOf") || is_union("anyOf")
}

/// Returns whether these branches of a simplified schema make an `Option`.
fn is_nullable(branches: &[Value]) -> bool {
    matches!(branches, [null, _] if null.get("type") == Some(&json!("null")))
}

/// Adds `null` to what a simplified schema accepts.
fn or_null(simple: Value) -> Value {
    if is_any(&simple) || simple.get("oneOf").and_then(Value::as_array).is_some_and(|branches| is_nullable(branches)) {
        return simple;
    }
    json!({ "oneOf": [{ "type": "null" }, simple] })
}

/// Returns the types that a schema names, without repetitions.
fn types(schema: &Map<String, Value>) -> Vec<String> {
    let mut types: Vec<String> = match schema.get("type") {
        Some(Value::String(only)) => vec![only.clone()],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && schema.get("nullable") == Some(&Value::Bool(true)) {
        types.push("null".into());
    }
    types.sort();
    types.dedup();
    types
}

fn allows_null(schema: &Map<String, Value>) -> bool {
    types(schema).iter().any(|name| name == "null")
}

/// Returns whether a schema says more than a constraint for values of a type that is said elsewhere.
fn has_type(schema: &Value) -> bool {
    ["$ref", "type", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|key| schema.get(*key).is_some())
}

/// Returns the branches of `anyOf` and `oneOf`.
fn branches(schema: &Map<String, Value>) -> Vec<Value> {
    let lists = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    lists.flatten().cloned().collect()
}

/// Returns the schema of an integer: of 64 bits without another format, and unsigned if it has no negative values.
fn integer(schema: &Map<String, Value>) -> Value {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let is_unsigned = schema.get("minimum").and_then(Value::as_f64).is_some_and(|minimum| minimum >= 0.0);
    match format {
        "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => {
            json!({ "type": "integer", "format": format })
        }
        _ if is_unsigned => json!({ "type": "integer", "format": "uint64" }),
        _ => json!({ "type": "integer", "format": "int64" }),
    }
}

#[cfg(test)]
mod tests;
