//! [`Parameters`]: what the JSON Schema of a tool says about its arguments.
//!
//! A schema comes from a server, so it may be deep, huge, recursive or invalid. Whatever is not understood allows every value,
//! and the server decides.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mcpwire_tokio::protocol::Json;

use super::Node;

/// Maximum depth of `$ref`, `allOf`, `anyOf` and `oneOf` to follow in a schema.
const DEEPEST: usize = 6;
/// Maximum number of parts of `allOf`, `anyOf` and `oneOf` to read.
const MOST_PARTS: usize = 32;
/// Maximum number of subschemas of `$ref` and `allOf` whose `properties` are read.
const MOST_SUBSCHEMAS: usize = 200;
/// Maximum length of a value that a schema lists, in characters.
const LONGEST_VALUE: usize = 200;

/// The parameters of a tool, read from its `inputSchema`.
#[derive(Debug)]
pub(crate) struct Parameters<'a> {
    /// The schema to which `$ref`s point.
    pub(crate) root: &'a Node,
    /// The `properties`, in the order of the schema.
    properties: Vec<(&'a str, &'a Node)>,
    schemas: BTreeMap<&'a str, &'a Node>,
    required: Vec<&'a str>,
    /// Whether the schema names all arguments that the tool takes. See [`Parameters::is_unknown`].
    are_all_named: bool,
    /// Number of subschemas that may still be read for `properties`, so that a hostile schema costs limited time.
    subschemas: usize,
}

impl<'a> Parameters<'a> {
    pub(crate) fn new(root: &'a Node) -> Self {
        Self::of_object(root, root)
    }

    /// Reads the members of an object schema that stands in the schema `root`.
    pub(crate) fn of_object(schema: &'a Node, root: &'a Node) -> Self {
        let mut parameters = Self {
            root,
            properties: Vec::new(),
            schemas: BTreeMap::new(),
            required: Vec::new(),
            are_all_named: true,
            subschemas: MOST_SUBSCHEMAS,
        };
        parameters.collect(schema, 0);
        if parameters.properties.is_empty() && !matches!(schema.get("additionalProperties"), Some(Node::Bool(false))) {
            parameters.are_all_named = false;
        }
        parameters
    }

    /// Adds the properties of an object schema, including those of `$ref` and `allOf`.
    fn collect(&mut self, schema: &'a Node, depth: usize) {
        const OPEN: [&str; 8] =
            ["patternProperties", "anyOf", "oneOf", "if", "not", "dependentSchemas", "$dynamicRef", "propertyNames"];
        let is_open = OPEN.iter().any(|keyword| schema.get(keyword).is_some())
            || !matches!(schema.get("additionalProperties"), None | Some(Node::Bool(false)));
        let is_too_large = depth > DEEPEST || self.subschemas == 0;
        if is_open || is_too_large {
            self.are_all_named = false;
        }
        if is_too_large {
            return;
        }
        self.subschemas -= 1;
        for (name, schema) in schema.get("properties").and_then(Node::as_object).unwrap_or_default() {
            if let Entry::Vacant(entry) = self.schemas.entry(name) {
                entry.insert(schema);
                self.properties.push((name, schema));
            }
        }
        let required = schema.get("required").and_then(Node::as_array).unwrap_or_default();
        for name in required.iter().filter_map(Node::as_str) {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
        if let Some(reference) = schema.get("$ref").and_then(Node::as_str) {
            match self.root.pointed(reference) {
                Some(target) => self.collect(target, depth + 1),
                None => self.are_all_named = false,
            }
        }
        for part in schema.get("allOf").and_then(Node::as_array).unwrap_or_default().iter().take(MOST_PARTS) {
            self.collect(part, depth + 1);
        }
    }

    /// Returns the schema of an argument.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Node> {
        self.schemas.get(name).copied()
    }

    /// Returns the names and the schemas of the arguments, in the order of the schema.
    pub(crate) fn properties(&self) -> &[(&'a str, &'a Node)] {
        &self.properties
    }

    pub(crate) fn required(&self) -> &[&'a str] {
        &self.required
    }

    /// Returns whether the tool does not know an argument of this name. A schema without `additionalProperties` allows every
    /// name, but a name that it does not list is nearly always a typing error, which most servers ignore silently.
    pub(crate) fn is_unknown(&self, name: &str) -> bool {
        self.are_all_named && self.get(name).is_none()
    }

    /// Returns the JSON value that `text` means for an argument with this schema: the text as a string where the schema allows
    /// strings, or else a number, `true`, `false`, `null`, a list or an object. A text that is not a JSON list is the only item
    /// of a list.
    ///
    /// # Errors
    /// What the schema allows, such as `a number`, if the text is nothing of it.
    pub(crate) fn json_of(&self, schema: &'a Node, text: &str) -> Result<String, String> {
        let allowed = self.types(schema, 0);
        if allowed.has(Types::STRING) {
            return Ok(serde_json::Value::from(text).to_string());
        }
        let json = Json::parse(text.trim()).ok();
        if let Some(json) = json.filter(|json| allowed.has(Types::of_text(json.get()))) {
            return Ok(json.get().to_owned());
        }
        match self.items(schema) {
            Some(items) if self.items(items).is_none() => self.json_of(items, text).map(|item| format!("[{item}]")),
            _ => Err(allowed.to_text()),
        }
    }

    /// Returns the schema of the items if the schema allows a list, and no text.
    pub(crate) fn items(&self, schema: &'a Node) -> Option<&'a Node> {
        static ANY: Node = Node::Bool(true);
        let types = self.types(schema, 0);
        if !types.has(Types::ARRAY) || types.has(Types::STRING) {
            return None;
        }
        let items = self.parts(schema).into_iter().find_map(|part| part.get("items"));
        Some(items.unwrap_or(&ANY))
    }

    /// Returns the schema and its alternatives.
    pub(crate) fn parts(&self, schema: &'a Node) -> Vec<&'a Node> {
        let mut parts = vec![schema];
        let mut at = 0;
        while at < parts.len() && parts.len() < MOST_PARTS {
            let part = parts[at];
            at += 1;
            parts.extend(part.get("$ref").and_then(Node::as_str).and_then(|reference| self.root.pointed(reference)));
            for keyword in ["anyOf", "oneOf", "allOf"] {
                parts.extend(part.get(keyword).and_then(Node::as_array).unwrap_or_default());
            }
        }
        parts
    }

    /// Returns the values that a schema lists, as words of the command line: `true` and `false`, or those of `enum`.
    pub(crate) fn listed_values(&self, schema: &'a Node) -> Vec<String> {
        let mut values = Vec::new();
        for part in self.parts(schema) {
            let listed = part.get("enum").and_then(Node::as_array).unwrap_or_default();
            values.extend(listed.iter().chain(part.get("const")).map(|value| match value {
                Node::String(text) => text.clone(),
                other => other.literal(LONGEST_VALUE),
            }));
        }
        if values.is_empty() && self.types(schema, 0).has(Types::BOOLEAN) && !self.types(schema, 0).has(Types::STRING) {
            values.extend(["false", "true"].map(str::to_owned));
        }
        values
    }

    /// Returns the JSON types that a schema allows.
    pub(crate) fn types(&self, schema: &Node, depth: usize) -> Types {
        if depth > DEEPEST {
            return Types::ANY;
        }
        let all = |nodes: &[Node], types: &dyn Fn(&Node) -> Types| {
            nodes.iter().take(MOST_PARTS).map(types).fold(Types::NONE, Types::or)
        };
        match schema.get("type") {
            Some(Node::String(name)) => return Types::named(name),
            Some(Node::Array(names)) => return all(names, &|name| name.as_str().map_or(Types::ANY, Types::named)),
            _ => {}
        }
        if let Some(value) = schema.get("const") {
            return Types::of(value);
        }
        if let Some(values) = schema.get("enum").and_then(Node::as_array) {
            return values.iter().map(Types::of).fold(Types::NONE, Types::or);
        }
        if let Some(reference) = schema.get("$ref").and_then(Node::as_str) {
            return self.root.pointed(reference).map_or(Types::ANY, |target| self.types(target, depth + 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(parts) = schema.get(keyword).and_then(Node::as_array) {
                return all(parts, &|part| self.types(part, depth + 1));
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Node::as_array) {
            let parts = parts.iter().take(MOST_PARTS);
            return parts.map(|part| self.types(part, depth + 1)).fold(Types::ANY, Types::and);
        }
        Types::ANY
    }
}

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    const NONE: Self = Self(0);
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const INTEGER: Self = Self(2);
    /// Numbers, integers included.
    pub(crate) const NUMBER: Self = Self(4 | 2);
    pub(crate) const BOOLEAN: Self = Self(8);
    pub(crate) const NULL: Self = Self(16);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);
    pub(crate) const ANY: Self = Self(127);

    const NAMED: [(&str, &str, Self); 7] = [
        ("string", "a text", Self::STRING),
        ("integer", "an integer", Self::INTEGER),
        ("number", "a number", Self::NUMBER),
        ("boolean", "true or false", Self::BOOLEAN),
        ("null", "null", Self::NULL),
        ("array", "a list", Self::ARRAY),
        ("object", "a JSON object", Self::OBJECT),
    ];

    fn named(name: &str) -> Self {
        Self::NAMED.iter().find(|(known, ..)| *known == name).map_or(Self::ANY, |(.., types)| *types)
    }

    /// Returns the type of a value.
    fn of(value: &Node) -> Self {
        match value {
            Node::Null => Self::NULL,
            Node::Bool(_) => Self::BOOLEAN,
            Node::Number(number) => Self::of_text(&number.to_string()),
            Node::String(_) => Self::STRING,
            Node::Array(_) => Self::ARRAY,
            Node::Object(_) => Self::OBJECT,
        }
    }

    /// Returns the type of a value in JSON text.
    pub(crate) fn of_text(json: &str) -> Self {
        match json.as_bytes().first() {
            Some(b'"') => Self::STRING,
            Some(b't' | b'f') => Self::BOOLEAN,
            Some(b'n') => Self::NULL,
            Some(b'[') => Self::ARRAY,
            Some(b'{') => Self::OBJECT,
            // `1.0` is an integer in JSON Schema.
            _ if json.parse().is_ok_and(|number: f64| number.fract() == 0.0) => Self::INTEGER,
            _ => Self(4),
        }
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether the set contains all of `types`.
    pub(crate) fn has(self, types: Self) -> bool {
        self.0 & types.0 == types.0
    }

    /// Returns the types as text for users, such as `a number or null`.
    pub(crate) fn to_text(self) -> String {
        let named = Self::NAMED
            .iter()
            .filter(|(name, _, types)| self.has(*types) && !(*name == "integer" && self.has(Self::NUMBER)));
        let named: Vec<&str> = named.map(|(_, text, _)| *text).collect();
        if named.is_empty() { "another value".to_owned() } else { named.join(" or ") }
    }
}
