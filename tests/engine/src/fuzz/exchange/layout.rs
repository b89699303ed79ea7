//! Writes a JSON value in one of the many layouts that RFC 8259 allows: order of members, whitespace, escapes.
//!
//! Some JSON has no [`Value`] of its own. It is drawn with these signs, which this module writes as what they stand for.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::fuzz::bytes::Bytes;

/// In a text: half of a surrogate pair. It has the value of the character itself, U+FFFD.
pub(super) const LONE_SURROGATE: char = '\u{fffd}';

/// At the start of a text: the rest of the text is a number, in a form that no [`Value`] keeps.
pub(super) const NUMERAL: char = '\u{e000}';

/// A member with this name is another member once more. Its value is the name of the other.
pub(super) const ONCE_MORE: &str = "\u{e001}";

/// How [`LONE_SURROGATE`] is written. The reference never has this text for anything else.
pub(super) const LONE_SURROGATE_TEXT: &str = "\\udbff";

/// A layout, drawn for one message.
#[expect(clippy::struct_excessive_bools, reason = "each is a freedom of its own")]
pub(super) struct Layout {
    random: u32,
    /// Names of the objects around the current value.
    path: Vec<String>,
    /// Whether an object may have a member twice. Only the last counts.
    repeats: bool,
    ends_with_return: bool,
    has_spaces: bool,
    escapes_keys: bool,
    escapes_texts: bool,
}

impl Layout {
    pub(super) fn draw(input: &mut Bytes<'_>) -> Self {
        let (style, seed) = (input.byte(), input.byte());
        Layout {
            random: u32::from(seed) << 8 | u32::from(style) | 0x10000,
            path: Vec::new(),
            repeats: style % 8 == 4,
            ends_with_return: style % 32 > 23,
            has_spaces: style % 4 == 1,
            escapes_keys: style % 8 == 2,
            escapes_texts: style % 8 == 3,
        }
    }

    /// Writes a message, without the line feed at its end.
    pub(super) fn write(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.value(value, &mut out);
        if self.ends_with_return {
            out.push('\r');
        }
        out
    }

    fn value(&mut self, value: &Value, out: &mut String) {
        self.space(out);
        match value {
            Value::Object(members) => {
                let members = self.in_any_order(members);
                self.list('{', '}', members, out, |layout, (key, value), out| {
                    layout.space(out);
                    layout.text(key, layout.escapes_keys, out);
                    layout.space(out);
                    out.push(':');
                    layout.path.push(key.to_owned());
                    layout.value(&value, out);
                    layout.path.pop();
                });
            }
            Value::Array(items) => self.list('[', ']', items, out, Layout::value),
            Value::String(text) => match text.strip_prefix(NUMERAL) {
                Some(number) => out.push_str(number),
                None => self.text(text, self.escapes_texts, out),
            },
            scalar => out.push_str(&scalar.to_string()),
        }
        self.space(out);
    }

    /// Returns the members of an object in the order in which they are written, with those that are repeated.
    fn in_any_order<'m>(&mut self, object: &'m Map<String, Value>) -> Vec<(&'m str, Cow<'m, Value>)> {
        let mut members: Vec<_> = object
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(other) if key == ONCE_MORE => (other, Cow::Borrowed(&object[other])),
                _ => (key.as_str(), Cow::Borrowed(value)),
            })
            .collect();
        for at in 1..members.len() {
            let other = self.below(at + 1);
            members.swap(at, other);
        }
        for at in (0..members.len()).rev() {
            let key = members[at].0;
            if self.repeats && self.below(3) == 0 && self.may_repeat(key) {
                let first = match self.below(6) {
                    0 => Value::Null,
                    1 => json!(1),
                    2 => json!("complete"),
                    3 => json!([{ "resultType": "input_required" }]),
                    4 => json!({ "resultType": "task", "id": 2 }),
                    _ => members[at].1.clone().into_owned(),
                };
                let before = self.below(at + 1);
                members.insert(before, (key, Cow::Owned(first)));
            }
        }
        members
    }

    /// Returns whether the last of several members with this name counts. If not, the message is invalid.
    fn may_repeat(&self, key: &str) -> bool {
        match &self.path[..] {
            [] => !matches!(key, "id" | "result" | "error"),
            [result, inputs] => result != "result" || inputs != "inputRequests",
            _ => true,
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        items: impl IntoIterator<Item = T>,
        out: &mut String,
        mut write: impl FnMut(&mut Self, T, &mut String),
    ) {
        out.push(open);
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write(self, item, out);
        }
        out.push(close);
    }

    fn text(&mut self, text: &str, escapes: bool, out: &mut String) {
        if !escapes {
            return out.push_str(&Value::from(text).to_string().replace(LONE_SURROGATE, LONE_SURROGATE_TEXT));
        }
        out.push('"');
        let mut units = [0; 2];
        for c in text.chars() {
            let must = c.is_control() || matches!(c, '"' | '\\');
            match self.below(5) {
                _ if c == LONE_SURROGATE => out.push_str(LONE_SURROGATE_TEXT),
                0 if matches!(c, '/' | '"' | '\\') => out.extend(['\\', c]),
                2.. if !must => out.push(c),
                style => {
                    for unit in c.encode_utf16(&mut units) {
                        let unit = if style < 3 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") };
                        out.push_str(&unit);
                    }
                }
            }
        }
        out.push('"');
    }

    fn space(&mut self, out: &mut String) {
        if self.has_spaces {
            // No line breaks, which end a message of the stdio transport.
            out.push_str(["", "", " ", "\t", "\r"][self.below(5)]);
        }
    }

    /// Returns a number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        (self.random >> 7) as usize % n
    }
}
