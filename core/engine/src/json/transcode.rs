//! JSON text from any deserializer, and to any serializer.
//!
//! The types of the protocol are read from JSON text. `serde_json` and this crate's own reader hand the text over as it is.
//! Any other deserializer of a self-describing format (a `serde_json::Value`, YAML, `MessagePack`, the buffers of
//! `#[serde(flatten)]` and `#[serde(untagged)]`) has its value written as JSON text first.
//!
//! In the other direction, [`Json`](super::Json) is written as it is by `serde_json` and by this crate's own writer, and value by
//! value by any other serializer.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::type_name;
use core::cell::RefCell;
use core::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::append::push_string;
use super::de::Token;
use super::lex;
use super::read::{MAX_DEPTH, Reader, is_json};
use super::serde_names::{SERDE_NUMBER, SERDE_RAW};

/// Reads a value from any deserializer as JSON text.
pub(super) fn text_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    deserializer.deserialize_newtype_struct(SERDE_RAW, TextVisitor)
}

/// Returns whether a serializer takes raw text in the way of `serde_json::value::RawValue`.
///
/// No trait tells, so the type's name is compared. The name of a type may change with the compiler or with `serde_json`. In that
/// case text is written value by value, which says the same, except for numbers that no integer and no float can hold.
pub(super) fn takes_raw<S: Serializer>() -> bool {
    let name = type_name::<S>();
    let name = name.strip_prefix("&mut ").unwrap_or(name);
    ["serde_json::ser::Serializer<", "serde_json::value::ser::Serializer", "mcpwire_core::json::serialize::Writer<"]
        .iter()
        .any(|known| name.starts_with(known))
}

/// Writes JSON text with any serializer, value by value.
pub(super) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Value(RefCell::new(&mut Reader::new(text))).serialize(serializer)
}

/// The value that a reader is at. It can be serialised once.
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

/// Takes the text of a value, or writes it.
struct TextVisitor;

/// Methods of a visitor that write the value as JSON text.
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

    /// Raw text comes as an object of one member of a special name. Any other object comes from a deserializer that does not
    /// know newtype structs.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some(key) = map.next_key_seed(Key)? else { return Ok(Cow::Borrowed("{}")) };
        if key != SERDE_RAW {
            return written(|writer| writer.members(key, map));
        }
        let text = map.next_value_seed(Key)?;
        // The object may be one that only looks like raw text.
        if is_json(text.as_bytes()) { Ok(text) } else { Err(de::Error::custom("raw text that is not JSON")) }
    }

    /// The deserializer is not one of `serde_json`.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
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

/// Returns the text that `write` writes.
fn written<E: de::Error>(write: impl FnOnce(ValueWriter<'_>) -> Result<(), E>) -> Result<Cow<'static, str>, E> {
    let mut out = Vec::new();
    write(ValueWriter { out: &mut out, depth: 0 })?;
    String::from_utf8(out).map(Cow::Owned).map_err(E::custom)
}

/// Writes the value that a deserializer shows it as JSON text.
struct ValueWriter<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
}

impl ValueWriter<'_> {
    fn inner(&mut self) -> ValueWriter<'_> {
        ValueWriter { out: self.out, depth: self.depth + 1 }
    }

    fn enter<E: de::Error>(&mut self, open: u8) -> Result<(), E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom("nested deeper than 128 levels"));
        }
        self.out.push(open);
        Ok(())
    }

    /// Writes the members of an object, of which the first key has been read.
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

    /// With the feature `arbitrary_precision`, `serde_json` shows a number as an object whose only member is its text. Puts the
    /// number in the place of such an object, which starts at `start` and is not closed.
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

/// Methods of a visitor for values whose JSON text is what they display.
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

    /// What is not finite becomes `null`, as `serde_json` writes it.
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
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
        // The comma behind the last element.
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

/// Reads a string, or the key of a map. Keys of other formats may be numbers or booleans: their text is the key.
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
