//! [`Signature`]: the JSON Schema of a tool's arguments as text for users, with one line for each parameter.
//!
//! A schema comes from a server, so it may be deep, huge, recursive or invalid. Limits bound the output and the work; `…` stands
//! for parts that are left out.

use crate::schema::{LONGEST_SCHEMA, Node, Parameters};
use crate::text;

/// Maximum number of parameters of a tool to show. If there are more, a line below says how many are left out.
const MOST_PARAMETERS: usize = 64;
/// Maximum number of subschemas to read in the JSON Schema of one tool.
const MOST_SUBSCHEMAS: u32 = 2_000;
/// Maximum number of `$ref`s to follow in the JSON Schema of one tool.
const MOST_REFERENCES: u32 = 100;
/// Maximum depth of nested types to show in the type of a parameter.
const DEEPEST: usize = 4;
const LONGEST_NAME: usize = 80;
const LONGEST_TYPE: usize = 160;
const LONGEST_LITERAL: usize = 40;
/// Maximum number of enumeration values, alternatives or object members to show in a type.
const MOST_ALTERNATIVES: usize = 12;

/// The parameters of a tool as text for users.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Parameter>,
    /// A remark to show below the parameters of the tool, such as `and 3 more`.
    pub(crate) note: Option<String>,
}

/// A parameter of a tool, to be shown as `name?: kind = default  description`.
#[derive(Debug, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) optional: bool,
    pub(crate) kind: String,
    pub(crate) default: Option<String>,
    pub(crate) description: Option<String>,
}

impl Signature {
    /// Reads the parameters of a tool from its `inputSchema`, which is a JSON Schema.
    pub(crate) fn of(schema: &str) -> Self {
        if schema.len() > LONGEST_SCHEMA {
            return Self::noted(format!("a schema of {} KiB, too long to show", schema.len() / 1024));
        }
        match serde_json::from_str(schema) {
            Ok(root) => Reader::new(&root).signature(),
            Err(_) => Self::noted("a schema nested too deeply to show"),
        }
    }

    fn noted(note: impl Into<String>) -> Self {
        Self { parameters: Vec::new(), note: Some(note.into()) }
    }
}

/// Returns the type that a JSON Schema describes as one line of text, such as `string[]`.
pub(crate) fn kind_of(schema: &str) -> String {
    Node::of_schema(schema).map_or_else(|| "…".to_owned(), |root| Reader::new(&root).short_kind(&root))
}

/// Reads a JSON Schema. Stops after a maximum number of subschemas and `$ref`s, so that hostile schemas cost limited time.
struct Reader<'a> {
    root: &'a Node,
    subschemas: u32,
    references: u32,
    /// The `$ref`s that are currently being followed. If one of them occurs again, the schema is recursive, and only the name
    /// of the `$ref` is shown.
    following: Vec<&'a str>,
}

/// The text of a type, such as `string | null`. Also contains whether a larger type that includes this text must put it in
/// parentheses.
struct Kind {
    text: String,
    atomic: bool,
}

impl Kind {
    fn atomic(text: impl Into<String>) -> Self {
        Self { text: text.into(), atomic: true }
    }

    fn in_parentheses(self) -> String {
        if self.atomic { self.text } else { format!("({})", self.text) }
    }
}

impl<'a> Reader<'a> {
    fn new(root: &'a Node) -> Self {
        Self { root, subschemas: MOST_SUBSCHEMAS, references: MOST_REFERENCES, following: Vec::new() }
    }

    fn signature(mut self) -> Signature {
        let parameters = Parameters::new(self.root);
        let mut signature = Signature::default();
        for (name, schema) in parameters.properties().iter().take(MOST_PARAMETERS) {
            let optional = !parameters.required().contains(name);
            signature.parameters.push(self.parameter(name, optional, schema));
        }
        signature.note = match parameters.properties().len() {
            0 => self.without_properties(),
            count if count > MOST_PARAMETERS => Some(format!("and {} more", count - MOST_PARAMETERS)),
            _ => None,
        };
        signature
    }

    fn parameter(&mut self, name: &str, optional: bool, schema: &'a Node) -> Parameter {
        let kind = self.short_kind(schema);
        let description = schema.get("description").or_else(|| schema.get("title")).and_then(Node::as_str);
        Parameter {
            name: shown_name(name),
            optional,
            kind,
            default: schema.get("default").map(|default| default.literal(LONGEST_LITERAL)),
            description: description.map(text::line).filter(|description| !description.is_empty()),
        }
    }

    /// Returns the remark about an `inputSchema` without `properties`. Returns `None` if the tool takes no arguments.
    fn without_properties(&mut self) -> Option<String> {
        let closed = matches!(self.root.get("additionalProperties"), Some(Node::Bool(false)));
        if closed || matches!(self.root, Node::Bool(false)) {
            return None;
        }
        let kind = self.short_kind(self.root);
        // Most servers use an object without properties for a tool without arguments.
        (kind != "object" && kind != "{}").then_some(kind)
    }

    fn resolve(&mut self, reference: &str) -> Option<&'a Node> {
        self.references = self.references.checked_sub(1)?;
        self.root.pointed(reference)
    }

    fn short_kind(&mut self, schema: &'a Node) -> String {
        let mut kind = self.kind(schema, 0).text;
        text::cut(&mut kind, LONGEST_TYPE);
        kind
    }

    fn kind(&mut self, schema: &'a Node, depth: usize) -> Kind {
        let Some(left) = self.subschemas.checked_sub(1) else {
            return Kind::atomic("…");
        };
        self.subschemas = left;
        match schema {
            Node::Bool(false) => return Kind::atomic("never"),
            Node::Object(_) => {}
            _ => return Kind::atomic("any"),
        }
        if let Some(reference) = schema.get("$ref").and_then(Node::as_str) {
            return self.referred(reference, depth);
        }
        if let Some(value) = schema.get("const") {
            return Kind::atomic(value.literal(LONGEST_LITERAL));
        }
        if let Some(values) = schema.get("enum").and_then(Node::as_array) {
            let literals = values.iter().map(|value| value.literal(LONGEST_LITERAL));
            return joined(literals.take(MOST_ALTERNATIVES).collect(), values.len(), " | ");
        }
        for (keyword, separator) in [("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")] {
            if let Some(parts) = schema.get(keyword).and_then(Node::as_array)
                && !parts.is_empty()
            {
                return self.combined(parts, separator, depth);
            }
        }
        match schema.get("type") {
            Some(Node::String(name)) => self.named(name, schema, depth),
            Some(Node::Array(names)) if !names.is_empty() => {
                let kinds = names.iter().take(MOST_ALTERNATIVES).filter_map(Node::as_str);
                let kinds = kinds.map(|name| self.named(name, schema, depth).in_parentheses()).collect();
                joined(kinds, names.len(), " | ")
            }
            _ => self.untyped(schema, depth),
        }
    }

    fn referred(&mut self, reference: &'a str, depth: usize) -> Kind {
        let name = shown_name(reference.rsplit(['/', '#']).find(|segment| !segment.is_empty()).unwrap_or("any"));
        if depth >= DEEPEST || self.following.contains(&reference) {
            return Kind::atomic(name);
        }
        let Some(target) = self.resolve(reference) else {
            return Kind::atomic(name);
        };
        self.following.push(reference);
        let kind = self.kind(target, depth);
        self.following.pop();
        kind
    }

    fn combined(&mut self, parts: &'a [Node], separator: &str, depth: usize) -> Kind {
        if depth >= DEEPEST {
            return Kind::atomic("…");
        }
        let mut kinds: Vec<String> = Vec::new();
        for part in parts.iter().take(MOST_ALTERNATIVES) {
            let kind = self.kind(part, depth + 1);
            let text = if parts.len() > 1 { kind.in_parentheses() } else { kind.text };
            if !kinds.contains(&text) {
                kinds.push(text);
            }
        }
        let left_out = parts.len().saturating_sub(MOST_ALTERNATIVES);
        let shown = kinds.len();
        joined(kinds, shown + left_out, separator)
    }

    /// Returns the type of a schema without `type`, which is derived from other keywords. For example, `properties` means an
    /// object.
    fn untyped(&mut self, schema: &'a Node, depth: usize) -> Kind {
        let has = |names: &[&str]| names.iter().any(|name| schema.get(name).is_some());
        if has(&["properties", "additionalProperties", "patternProperties"]) {
            self.named("object", schema, depth)
        } else if has(&["items", "prefixItems"]) {
            self.named("array", schema, depth)
        } else {
            Kind::atomic("any")
        }
    }

    fn named(&mut self, name: &str, schema: &'a Node, depth: usize) -> Kind {
        match name {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "number" | "integer" => Kind::atomic(format!("{name}{}", range(schema))),
            "string" => match schema.get("format").and_then(Node::as_str) {
                Some(format) => Kind::atomic(format!("string<{}>", shown_name(format))),
                None => Kind::atomic("string"),
            },
            other => Kind::atomic(shown_name(other)),
        }
    }

    fn array(&mut self, schema: &'a Node, depth: usize) -> Kind {
        if depth >= DEEPEST {
            return Kind::atomic("array");
        }
        let items = schema.get("items");
        if let Some(parts) = schema.get("prefixItems").or(items).and_then(Node::as_array) {
            let kinds = parts.iter().take(MOST_ALTERNATIVES).map(|part| self.kind(part, depth + 1).text).collect();
            return Kind::atomic(format!("[{}]", joined(kinds, parts.len(), ", ").text));
        }
        match items {
            Some(items) => Kind::atomic(format!("{}[]", self.kind(items, depth + 1).in_parentheses())),
            None => Kind::atomic("any[]"),
        }
    }

    fn object(&mut self, schema: &'a Node, depth: usize) -> Kind {
        if depth >= DEEPEST {
            return Kind::atomic("object");
        }
        let properties = schema.get("properties").and_then(Node::as_object).unwrap_or_default();
        let required = schema.get("required").and_then(Node::as_array).unwrap_or_default();
        let mut members = Vec::new();
        for (name, member) in properties.iter().take(MOST_ALTERNATIVES) {
            let mark = if required.iter().any(|required| required.as_str() == Some(name)) { "" } else { "?" };
            members.push(format!("{}{mark}: {}", shown_name(name), self.kind(member, depth + 1).text));
        }
        let mut count = properties.len();
        if let Some(others @ Node::Object(_)) = schema.get("additionalProperties") {
            members.push(format!("[name]: {}", self.kind(others, depth + 1).text));
            count += 1;
        }
        if members.is_empty() {
            return Kind::atomic("object");
        }
        Kind::atomic(format!("{{ {} }}", joined(members, count, ", ").text))
    }
}

/// Joins the texts of several types with `separator`. Adds `…` if `parts` contains fewer texts than `count`.
fn joined(mut parts: Vec<String>, count: usize, separator: &str) -> Kind {
    if count > parts.len() {
        parts.push("…".to_owned());
    }
    match parts.len() {
        0 => Kind::atomic("never"),
        1 => Kind::atomic(parts.remove(0)),
        _ => Kind { text: parts.join(separator), atomic: false },
    }
}

/// Returns the limits of a number in a JSON Schema as text, such as `<1..100>`, `<1..>` or `<..100>`. Returns an empty text if
/// there are no limits.
fn range(schema: &Node) -> String {
    let bound = |name| match schema.get(name) {
        Some(Node::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let (least, most) = (bound("minimum"), bound("maximum"));
    if least.is_empty() && most.is_empty() { String::new() } else { format!("<{least}..{most}>") }
}

/// Formats a name from a JSON Schema for the terminal, in quotes unless the name is one word.
fn shown_name(name: &str) -> String {
    let shown = text::short(name, LONGEST_NAME);
    let plain = |c: char| c.is_alphanumeric() || "_-.$@…".contains(c);
    if shown.is_empty() || !shown.chars().all(plain) { format!("{shown:?}") } else { shown }
}

#[cfg(test)]
mod tests;
