//! Converts between JSON text and the serializers and deserializers of other formats.
//!
//! The protocol's types are read from JSON text. The deserializer of `serde_json` passes the text unchanged. The
//! value of any other deserializer of a self-describing format is converted to JSON text first.
//! Examples are `serde_json::Value`, YAML, `MessagePack`, and the buffers of `#[serde(flatten)]` and
//! `#[serde(untagged)]`.
//!
//! In the other direction, the serializers of `serde_json` copy the text of a [`Json`](super::Json). For any other
//! serializer, the text is parsed, and each part is serialized.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::append::{push_string, push_value};
use super::read::{MAX_DEPTH, is_json};
use super::{lex, numeral, scan};

/// Name under which `serde_json::value::RawValue` passes raw JSON text through serde, in a struct with one field. The
/// name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Name under which `serde_json`, with its feature `arbitrary_precision`, passes the text of a number through serde, in
/// a struct with one field. The name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";

/// Reads a value of any self-describing serde format, and returns it as JSON text.
pub(super) fn text_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let mut out = Vec::new();
    deserializer.deserialize_newtype_struct(SERDE_RAW, ValueWriter { out: &mut out, depth: 0, takes_raw: true })?;
    String::from_utf8(out).map_err(de::Error::custom)
}

/// Returns whether the serializer `S` accepts raw JSON text, as those of `serde_json` do.
///
/// Compares the type name of `S` with known names, because serde has no trait for this. Returns `false` for an unknown
/// serializer.
pub(super) fn takes_raw<S: Serializer>() -> bool {
    // If a later compiler or `serde_json` changes a name, the value is serialized part by part. The output is the same,
    // except for numbers that fit neither an integer nor a float.
    let name = type_name::<S>();
    let name = name.strip_prefix("&mut ").unwrap_or(name);
    name.starts_with("serde_json::ser::Serializer<") || name.starts_with("serde_json::value::ser::Serializer")
}

/// A JSON text that is serialized part by part. The text must be valid JSON, without white space around it.
pub(super) struct Parts<'a>(pub(super) &'a str);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.0.as_bytes();
        let part = |value| Parts(core::str::from_utf8(value).unwrap_or_default());
        match self.0 {
            "null" => return serializer.serialize_unit(),
            "true" => return serializer.serialize_bool(true),
            "false" => return serializer.serialize_bool(false),
            _ => {}
        }
        match bytes.first() {
            Some(b'{') => serializer.collect_map(scan::members(bytes).map(|member| (member.key(), part(member.value)))),
            Some(b'[') => {
                let mut at = 0;
                let elements = core::iter::from_fn(|| scan::next_element(bytes, &mut at));
                serializer.collect_seq(elements.map(|range| part(&bytes[range])))
            }
            Some(b'"') => serializer.serialize_str(&scan::text(bytes).unwrap_or_default()),
            _ => serialize_number(self.0, serializer),
        }
    }
}

fn serialize_number<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    // Only a float can represent -0.
    if text != "-0" && !text.contains(['.', 'e', 'E']) {
        if let Some(value) = numeral::parse_whole(text.as_bytes()) {
            return serializer.serialize_u64(value);
        }
        if let Some(value) = numeral::parse_whole(text.as_bytes()) {
            return serializer.serialize_i64(value);
        }
    }
    let value = numeral::parse_finite(text);
    serializer.serialize_f64(value.ok_or_else(|| serde::ser::Error::custom("a number that is out of range"))?)
}

/// A serde visitor that appends a value to `out` as JSON text.
struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
    /// Whether an object with the key [`SERDE_RAW`] is raw JSON text. Elsewhere, a server may have sent an object that only looks
    /// like raw text.
    takes_raw: bool,
}

impl ValueWriter<'_> {
    /// Returns a writer for an element or member of the current array or object.
    fn inner(&mut self) -> ValueWriter<'_> {
        ValueWriter { out: self.out, depth: self.depth + 1, takes_raw: false }
    }

    /// Appends the opening bracket `open` of an array or object. Returns an error if values are nested deeper than
    /// [`MAX_DEPTH`].
    fn enter<E: de::Error>(&mut self, open: u8) -> Result<(), E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom("nested deeper than 128 levels"));
        }
        self.out.push(open);
        Ok(())
    }

    /// Replaces the object at the end of `out` by the number that its single member contains as a string. Returns
    /// `false`, and leaves `out` unchanged, if the string is not a number.
    ///
    /// `serde_json` with its feature `arbitrary_precision` passes each number as such an object, with the key
    /// [`SERDE_NUMBER`]. The object starts at the offset `start`, and its closing brace is not yet written.
    fn unwrap_number(&mut self, start: usize) -> bool {
        let before = 2 * 2 + 1 + SERDE_NUMBER.len();
        let Some([b'"', number @ .., b'"']) = self.out.get(start + before - 1..) else { return false };
        if lex::number(number, 0).ok() != Some(number.len()) {
            return false;
        }
        self.out.pop();
        self.out.drain(start..start + before);
        true
    }
}

impl<'de> DeserializeSeed<'de> for ValueWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Implements the methods of a serde visitor for scalar values.
macro_rules! scalars {
    ($( $method:ident($from:ty) )*) => { $(
        fn $method<E: de::Error>(self, value: $from) -> Result<(), E> {
            push_value(self.out, &value).map_err(E::custom)
        }
    )* };
}

impl<'de> Visitor<'de> for ValueWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    scalars! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_i128(i128) visit_u128(u128) visit_f64(f64) visit_str(&str)
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        push_value(self.out, &()).map_err(E::custom)
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.visit_newtype_struct(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        // Only deserializers that cannot pass raw JSON text call this method.
        deserializer.deserialize_any(ValueWriter { takes_raw: false, ..self })
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.enter(b'[')?;
        let mut end = self.out.len();
        while seq.next_element_seed(self.inner())?.is_some() {
            end = self.out.len();
            self.out.push(b',');
        }
        // Removes the comma after the last element.
        self.out.truncate(end);
        self.out.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut key = next_key(&mut map)?;
        if self.takes_raw && key.as_deref() == Some(SERDE_RAW) {
            let text = map.next_value::<String>()?;
            if !is_json(text.as_bytes()) {
                return Err(de::Error::custom("raw text that is not JSON"));
            }
            self.out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let start = self.out.len();
        let is_number = key.as_deref() == Some(SERDE_NUMBER);
        self.enter(b'{')?;
        let mut count = 0;
        while let Some(name) = key {
            if count > 0 {
                self.out.push(b',');
            }
            count += 1;
            push_string(self.out, &name);
            self.out.push(b':');
            map.next_value_seed(self.inner())?;
            key = next_key(&mut map)?;
        }
        if !(is_number && count == 1 && self.unwrap_number(start)) {
            self.out.push(b'}');
        }
        Ok(())
    }
}

/// Returns the next key of an object. Formats other than JSON also allow numbers and booleans as keys, which become text.
fn next_key<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<String>, A::Error> {
    match map.next_key::<Value>()? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(key @ (Value::Bool(_) | Value::Number(_))) => Ok(Some(key.to_string())),
        Some(_) => Err(de::Error::custom("a key is neither a string nor a number nor a boolean")),
    }
}
