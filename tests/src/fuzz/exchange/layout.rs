//! Writes a JSON value in one of the many layouts that RFC 8259 allows: order of members, whitespace, escapes.

use serde_json::Value;

use crate::fuzz::bytes::Bytes;

/// A layout, drawn for one message.
pub(super) struct Layout {
    random: u32,
    has_spaces: bool,
    escapes_keys: bool,
    escapes_texts: bool,
}

impl Layout {
    pub(super) fn draw(input: &mut Bytes<'_>) -> Self {
        let (style, seed) = (input.byte(), input.byte());
        Layout {
            random: u32::from(seed) << 8 | u32::from(style) | 0x10000,
            has_spaces: style % 4 == 1,
            escapes_keys: style % 8 == 2,
            escapes_texts: style % 8 == 3,
        }
    }

    pub(super) fn write(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.value(value, &mut out);
        out
    }

    fn value(&mut self, value: &Value, out: &mut String) {
        self.space(out);
        match value {
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                for at in 1..members.len() {
                    let other = self.below(at + 1);
                    members.swap(at, other);
                }
                self.list('{', '}', members, out, |layout, (key, value), out| {
                    layout.space(out);
                    layout.text(key, layout.escapes_keys, out);
                    layout.space(out);
                    out.push(':');
                    layout.value(value, out);
                });
            }
            Value::Array(items) => self.list('[', ']', items, out, Layout::value),
            Value::String(text) => self.text(text, self.escapes_texts, out),
            scalar => out.push_str(&scalar.to_string()),
        }
        self.space(out);
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
            return out.push_str(&Value::from(text).to_string());
        }
        out.push('"');
        let mut units = [0; 2];
        for c in text.chars() {
            let must = c.is_control() || matches!(c, '"' | '\\');
            match self.below(5) {
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
            out.push_str(["", "", " ", "\t", "  "][self.below(5)]);
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
