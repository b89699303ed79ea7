//! Reads JSON Schemas of servers. [`Node`]: a JSON value of a schema that keeps the order of object members. `serde_json::Value` does
//! not keep this order. [`Parameters`]: the arguments of a tool.

mod parameters;

use std::{fmt, iter};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Number, Value};

pub(crate) use self::parameters::{Parameters, Types};
use crate::text;

/// Maximum length of a JSON Schema that is read, in bytes. Usual schemas of tools are hundreds of times shorter.
pub(crate) const LONGEST_SCHEMA: usize = 256 * 1024;

/// A JSON value that keeps the order of object members, unlike `serde_json::Value`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Array(Vec<Node>),
    #[serde(deserialize_with = "members")]
    Object(Vec<(String, Node)>),
}

impl Node {
    /// Returns the member of a JSON object by its name. If several members have the name, returns the last of them, as JSON
    /// parsers do.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.as_object()?.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Node]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn as_object(&self) -> Option<&[(String, Node)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the value to which a `$ref` in the same JSON document points, such as `#/$defs/Name`. Returns `None` for
    /// references to other documents.
    pub(crate) fn pointed(&self, reference: &str) -> Option<&Node> {
        let pointer = reference.strip_prefix('#')?;
        let mut node = self;
        for segment in pointer.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            node = match node {
                Self::Array(items) => items.get(segment.parse::<usize>().ok()?)?,
                _ => node.get(&segment)?,
            };
        }
        Some(node)
    }

    /// Reads a JSON Schema of a server. Returns `None` if the schema is too long, or nested too deeply.
    pub(crate) fn of_schema(schema: &str) -> Option<Self> {
        if schema.len() > LONGEST_SCHEMA { None } else { serde_json::from_str(schema).ok() }
    }

    /// Formats the value as JSON on one line, cut to `most` characters.
    pub(crate) fn literal(&self, most: usize) -> String {
        let mut literal = String::new();
        self.write(&mut literal, most);
        text::cut(&mut literal, most);
        literal
    }

    /// Appends the value as JSON to `out`. Stops soon after `most` characters, and the caller cuts the text.
    fn write(&self, out: &mut String, most: usize) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(number) => out.push_str(&number.to_string()),
            Self::String(text) => write_string(text, out, most),
            Self::Array(items) => write_list(['[', ']'], items, out, most, Self::write),
            Self::Object(members) => write_list(['{', '}'], members, out, most, |(name, value), out, most| {
                write_string(name, out, most);
                out.push_str(": ");
                value.write(out, most);
            }),
        }
    }
}

fn write_list<T>(
    [open, close]: [char; 2],
    items: &[T],
    out: &mut String,
    most: usize,
    write: impl Fn(&T, &mut String, usize),
) {
    out.push(open);
    for (at, item) in items.iter().enumerate() {
        if out.len() > most * LONGEST_CHARACTER {
            break;
        }
        if at > 0 {
            out.push_str(", ");
        }
        write(item, out, most);
    }
    out.push(close);
}

fn write_string(text: &str, out: &mut String, most: usize) {
    let mut shown: String = text.chars().take(most + 1).collect();
    text::cut(&mut shown, most);
    out.push_str(&text::json_for_terminals(&Value::from(shown).to_string()));
}

/// Maximum length of a character in UTF-8, in bytes.
const LONGEST_CHARACTER: usize = 4;

/// Reads the members of a JSON object in their order.
fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Node)>, D::Error> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Node)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            iter::from_fn(|| map.next_entry().transpose()).collect()
        }
    }
    deserializer.deserialize_map(Members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &str) -> Node {
        serde_json::from_str(json).expect("the test's own JSON")
    }

    #[test]
    fn members_keep_their_order_and_the_last_of_a_name_counts() {
        let node = node(r#"{"b":1,"a":[true,null],"b":"x"}"#);
        assert_eq!(node.literal(100), r#"{"b": 1, "a": [true, null], "b": "x"}"#);
        assert_eq!(node.get("b").and_then(Node::as_str), Some("x"));
    }

    #[test]
    fn pointers_find_definitions() {
        let node = node(r#"{"$defs":{"a/b":[0,{"c":1}]}}"#);
        assert_eq!(node.pointed("#/$defs/a~1b/1/c"), Some(&Node::Number(1.into())));
        assert_eq!(node.pointed("#"), Some(&node));
        assert_eq!(node.pointed("#/$defs/none"), None);
        assert_eq!(node.pointed("https://example.com/x#/$defs"), None);
    }

    #[test]
    fn literals_are_cut_and_safe() {
        assert_eq!(node(r#"["aaaa","bbbb","cccc"]"#).literal(9), r#"["aaaa", …"#);
        assert_eq!(node(r#""\u001b[31m\u009bred \" x""#).literal(40), r#""\u001b[31m\u009bred \" x""#);
        let long = format!("[{}1]", "1,".repeat(10_000));
        assert_eq!(node(&long).literal(10).chars().count(), 11);
    }
}
