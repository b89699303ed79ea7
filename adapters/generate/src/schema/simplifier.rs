//! [`Simplifier`]: simplifies a schema and its subschemas.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::description;
use super::forms::{
    allows_null, any, branches, decode_pointer, has_type, integer, needs_type, or_null, reference_to, resolve, types,
};
use super::values::of_values;
use crate::docs::one_line;
use crate::names::TypeNames;

/// Maximum depth of subschemas. Types in Rust that are nested more deeply are of no use.
const DEEPEST: usize = 24;

/// Maximum number of subschemas in a schema, counted for each use. The largest schema of a known tool has about 700. The limit
/// bounds the time to generate and to compile a module.
const MOST_SUBSCHEMAS: usize = 4_000;

/// Simplifies the subschemas of one schema.
pub(super) struct Simplifier<'s> {
    pub(super) document: &'s Value,
    names: &'s mut TypeNames,
    pub(super) definitions: Map<String, Value>,
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

impl<'s> Simplifier<'s> {
    pub(super) fn new(schema: &'s Value, names: &'s mut TypeNames) -> Self {
        Simplifier {
            document: schema,
            names,
            definitions: Map::new(),
            references: BTreeMap::from([("#".to_owned(), Reference { is_used: true, result: json!({"$ref": "#"}) })]),
            open: vec!["#".to_owned()],
            subschemas: 0,
        }
    }
}

impl Simplifier<'_> {
    /// Simplifies a schema in place. `name` is a suggestion for the names of types within it.
    pub(super) fn simplify(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
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
    pub(super) fn simplify_nested(&mut self, schema: &Value, name: &str, depth: usize) -> Value {
        let open = std::mem::take(&mut self.open);
        let simple = self.simplify(schema, name, depth);
        self.open = open;
        self.define(simple, name)
    }

    /// Moves a schema that needs a type of its own to the definitions, and returns a reference to it.
    pub(super) fn define(&mut self, simple: Value, name: &str) -> Value {
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
            return of_values(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return of_values(values);
        }
        if let Some(only) = only_member(schema) {
            return self.simplify(&only, name, depth + 1);
        }
        if self.is_object(schema) {
            let object = self.object(schema, name, depth);
            return if allows_null(schema) { or_null(self.define(object, name)) } else { object };
        }
        let branches = branches(schema);
        if !branches.is_empty() && branches.iter().all(has_type) {
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
}

/// Returns the only member of `allOf` that says more than a constraint, if the schema itself says nothing more.
fn only_member(schema: &Map<String, Value>) -> Option<Value> {
    let members = schema.get("allOf")?.as_array()?;
    let mut typed = members.iter().filter(|member| has_type(member));
    let only = typed.next().filter(|_| typed.next().is_none())?;
    let is_bare = ["properties", "anyOf", "oneOf", "additionalProperties"].iter().all(|key| !schema.contains_key(*key));
    let has_fields = |member: &Value| member.get("properties").is_some();
    let others_have_fields = members.iter().any(|member| !has_type(member) && has_fields(member));
    (is_bare && !others_have_fields).then(|| only.clone())
}
