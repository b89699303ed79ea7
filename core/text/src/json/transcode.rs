//! Converts between JSON text and the serializers and deserializers of other formats.
//!
//! The protocol's types are read from JSON text. The deserializer of `serde_json` passes the text unchanged. The
//! value of any other deserializer of a self-describing format is converted to JSON text first.
//! Examples are `serde_json::Value`, YAML, `MessagePack`, and the buffers of `#[serde(flatten)]` and
//! `#[serde(untagged)]`.
//!
//! In the other direction, the serializers of `serde_json` and of this crate copy the text of a
//! [`Json`](super::Json). For any other serializer, the text is parsed, and each part is serialized.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::type_name;
use core::cell::RefCell;
use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::append::push_string;
use super::lex;
use super::read::{MAX_DEPTH, Reader, is_json};
use super::token::Token;

/// Name under which `serde_json::value::RawValue` passes raw JSON text through serde, in a struct with one field. The
/// name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Name under which `serde_json`, with its feature `arbitrary_precision`, passes the text of a number through serde, in
/// a struct with one field. The name is private to `serde_json`; a test fails if it changes.
pub(super) const SERDE_NUMBER: &str = "$serde_json::private::Number";

/// Reads a value of any self-describing serde format, and returns it as JSON text.
pub(super) fn text_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    deserializer.deserialize_newtype_struct(SERDE_RAW, TextVisitor)
}

/// Returns whether the serializer `S` accepts raw JSON text, as the serializers of `serde_json` and of this crate do.
///
/// Compares the type name of `S` with known names, because serde has no trait for this. Returns `false` for an unknown
/// serializer.
pub(super) fn takes_raw<S: Serializer>() -> bool {
    // If a later compiler or `serde_json` changes a name, the value is serialized part by part. The output is the same,
    // except for numbers that fit neither an integer nor a float.
    let name = type_name::<S>();
    let name = name.strip_prefix("&mut ").unwrap_or(name);
    ["serde_json::ser::Serializer<", "serde_json::value::ser::Serializer", "mcpwire_text::json::serialize::Writer<"]
        .iter()
        .any(|known| name.starts_with(known))
}

/// Parses a JSON text, and serializes its value part by part with any serde serializer.
pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Value(RefCell::new(&mut Reader::new(text))).serialize(serializer)
}

/// The next value of a reader. It can be serialized only once, because serializing it advances the reader.
struct Value<'r, 'de>(RefCell<&'r mut Reader<'de>>);

impl Serialize for Value<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reader = &mut **self.0.borrow_mut();
        let mut first = true;
        match reader.token().map_err(S::Error::custom)? {
            Token::Null => serializer.serialize_unit(),
            Token::Bool(value) => serializer.serialize_bool(value),
            Token::Unsigned(value) => serializer.serialize_u64(value),
            Token::Signed(value) => serializer.serialize_i64(value),
            Token::Float(value) => serializer.serialize_f64(value),
            Token::Text(text) => serializer.serialize_str(&text),
            Token::Array => {
                let mut array = serializer.serialize_seq(None)?;
                while reader.has_next(&mut first, b']').map_err(S::Error::custom)? {
                    array.serialize_element(&Value(RefCell::new(reader)))?;
                }
                reader.leave(b']').map_err(S::Error::custom)?;
                array.end()
            }
            Token::Object => {
                let mut object = serializer.serialize_map(None)?;
                while let Some(key) = reader.next_key(&mut first).map_err(S::Error::custom)? {
                    reader.colon().map_err(S::Error::custom)?;
                    object.serialize_entry(&*key, &Value(RefCell::new(reader)))?;
                }
                reader.leave(b'}').map_err(S::Error::custom)?;
                object.end()
            }
        }
    }
}

/// A serde visitor that converts the visited value to JSON text.
struct TextVisitor;

/// Implements the methods of a serde visitor that convert a scalar value to JSON text.
macro_rules! written {
    ($( $method:ident($from:ty) )*) => { $(
        fn $method<E: de::Error>(self, value: $from) -> Result<Self::Value, E> {
            written(|writer| writer.$method(value))
        }
    )* };
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        // A deserializer that supports raw JSON text passes it as the value of the single key `SERDE_RAW`. Other
        // objects are from deserializers that ignore the request for a newtype struct and pass the value itself.
        let Some(key) = map.next_key_seed(Key)? else { return Ok(Cow::Borrowed("{}")) };
        if key != SERDE_RAW {
            return written(|writer| writer.members(key, map));
        }
        let text = map.next_value_seed(Key)?;
        // A server may have sent an object that only looks like raw text.
        if is_json(text.as_bytes()) { Ok(text) } else { Err(de::Error::custom("raw text that is not JSON")) }
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // Only deserializers that cannot pass raw JSON text call this method.
        written(|writer| deserializer.deserialize_any(writer))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        written(|writer| deserializer.deserialize_any(writer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        written(|writer| writer.visit_seq(seq))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed("null"))
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed("null"))
    }

    written! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_i128(i128) visit_u128(u128) visit_f64(f64) visit_str(&str)
    }
}

fn written<E: de::Error>(write: impl FnOnce(ValueWriter<'_>) -> Result<(), E>) -> Result<Cow<'static, str>, E> {
    let mut out = Vec::new();
    write(ValueWriter { out: &mut out, depth: 0 })?;
    String::from_utf8(out).map(Cow::Owned).map_err(E::custom)
}

/// A serde visitor that appends a value to `out` as JSON text.
struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
}

impl ValueWriter<'_> {
    /// Returns a writer for an element or member of the current array or object.
    fn inner(&mut self) -> ValueWriter<'_> {
        ValueWriter { out: self.out, depth: self.depth + 1 }
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

    /// Appends the object that `map` provides. `first` is the key of its first member, which was already taken from
    /// `map`.
    fn members<'de, A: MapAccess<'de>>(mut self, first: Cow<'de, str>, mut map: A) -> Result<(), A::Error> {
        self.enter(b'{')?;
        let start = self.out.len() - 1;
        let is_number = first == SERDE_NUMBER;
        let mut next = Some(first);
        let mut count = 0;
        while let Some(key) = next {
            if count > 0 {
                self.out.push(b',');
            }
            count += 1;
            push_string(self.out, &key);
            self.out.push(b':');
            map.next_value_seed(self.inner())?;
            next = map.next_key_seed(Key)?;
        }
        if is_number && count == 1 && self.unwrap_number(start) {
            return Ok(());
        }
        self.out.push(b'}');
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
        if lex::number(number, 0).map(|(end, _)| end) != Ok(number.len()) {
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

/// Implements the methods of a serde visitor for types whose `Display` output is valid JSON text.
macro_rules! displayed {
    ($( $method:ident($from:ty) )*) => { $(
        fn $method<E>(self, value: $from) -> Result<(), E> {
            self.out.extend_from_slice(alloc::format!("{value}").as_bytes());
            Ok(())
        }
    )* };
}

impl<'de> Visitor<'de> for ValueWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    displayed! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_i128(i128) visit_u128(u128) }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        // As in `serde_json`, NaN and infinities become `null`.
        self.out.extend_from_slice(&serde_json::to_vec(&value).unwrap_or_default());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        push_string(self.out, value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
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

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let Some(key) = map.next_key_seed(Key)? {
            return self.members(key, map);
        }
        self.out.extend_from_slice(b"{}");
        Ok(())
    }
}

/// A serde visitor that reads a string. Also accepts numbers and booleans and converts them to text, because formats
/// other than JSON allow them as object keys.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.into()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(if value { "true" } else { "false" }))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(alloc::format!("{value}")))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(alloc::format!("{value}")))
    }
}
