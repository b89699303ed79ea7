//! Implements `serde::Deserializer` for [`Reader`].

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::numeral;
use super::read::{ReadError, Reader, Result, Text};
use super::serde_names::SERDE_RAW;

/// Deserializes a value from JSON text. Fails if text other than white space follows the value.
pub fn from_str<'de, T: de::Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).map_err(|error| reader.locate(error))?;
    reader.end()?;
    Ok(value)
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.token()? {
            Token::Text(Text::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Token::Text(Text::Unescaped(text)) => visitor.visit_string(text),
            Token::Object => {
                let value = visitor.visit_map(Elements { reader: self, first: true })?;
                self.leave(b'}')?;
                Ok(value)
            }
            Token::Array => {
                let value = visitor.visit_seq(Elements { reader: self, first: true })?;
                self.leave(b']')?;
                Ok(value)
            }
            Token::Unsigned(value) => visitor.visit_u64(value),
            Token::Signed(value) => visitor.visit_i64(value),
            Token::Float(value) => visitor.visit_f64(value),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Null => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next_byte() {
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if name != SERDE_RAW {
            return visitor.visit_newtype_struct(self);
        }
        self.next_byte();
        let start = self.at;
        let raw = self.raw()?;
        visitor.visit_map(RawText { text: Some(raw) }).map_err(|error| error.located(start))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.next_byte() {
            Some(b'"') => match self.string()? {
                Text::Borrowed(text) => visitor.visit_enum(text.into_deserializer()),
                Text::Unescaped(text) => visitor.visit_enum(text.into_deserializer()),
            },
            Some(b'{') => {
                self.enter()?;
                let value = visitor.visit_enum(Variant { reader: self })?;
                self.leave(b'}')?;
                Ok(value)
            }
            _ => Err(self.error("not a variant of an enumeration")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

/// A JSON token that begins a value: a scalar value itself, or the opening bracket of an array or object.
pub(super) enum Token<'de> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Text<'de>),
    Array,
    Object,
}

impl<'de> Reader<'de> {
    /// Reads a scalar value, or the opening bracket of an array or object.
    pub(super) fn token(&mut self) -> Result<Token<'de>> {
        // Not generic over the visitor, so its code is compiled only once.
        match self.next_byte() {
            Some(b'"') => self.string().map(Token::Text),
            Some(b'{') => self.enter().map(|()| Token::Object),
            Some(b'[') => self.enter().map(|()| Token::Array),
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                let (text, whole) = self.number()?;
                // Only a float can represent -0.
                if whole && text != "-0" {
                    if let Some(value) = numeral::parse_unsigned(text.as_bytes()) {
                        return Ok(Token::Unsigned(value));
                    }
                    if let Some(value) = numeral::parse_signed(text.as_bytes()) {
                        return Ok(Token::Signed(value));
                    }
                }
                let value =
                    numeral::parse_finite(text).ok_or_else(|| ReadError::at("a number that is out of range", start))?;
                Ok(Token::Float(value))
            }
            Some(b't') => self.literal("true").map(|()| Token::Bool(true)),
            Some(b'f') => self.literal("false").map(|()| Token::Bool(false)),
            Some(b'n') => self.literal("null").map(|()| Token::Null),
            Some(_) => Err(self.error("not a value")),
            None => Err(self.error("the text ends where a value should be")),
        }
    }

    /// Reads the next key of an object. Returns `None` at the end of the object.
    ///
    /// `first` must be `true` before the first key; this function then sets it to `false`.
    pub(super) fn next_key(&mut self, first: &mut bool) -> Result<Option<Text<'de>>> {
        if !self.has_next(first, b'}')? {
            return Ok(None);
        }
        self.key()?;
        self.string().map(Some)
    }
}

/// Passes the elements of a JSON array, or the members of a JSON object, to a serde visitor.
struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.reader.has_next(&mut self.first, b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.reader.next_key(&mut self.first)? {
            Some(Text::Borrowed(text)) => seed.deserialize(BorrowedStrDeserializer::new(text)).map(Some),
            Some(Text::Unescaped(text)) => seed.deserialize(text.into_deserializer()).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.reader.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

/// Gives a serde visitor access to an enum variant with data: an object such as `{"Variant":1}`.
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self)> {
        let name = seed.deserialize(&mut *self.reader)?;
        self.reader.colon()?;
        Ok((name, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<()> {
        de::Deserialize::deserialize(self.reader)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.reader.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.reader.deserialize_any(visitor)
    }
}

/// Passes raw JSON text to a serde visitor as `serde_json::value::RawValue` expects it: as the only value of a map,
/// with the key [`SERDE_RAW`].
struct RawText<'de> {
    text: Option<&'de str>,
}

impl<'de> de::MapAccess<'de> for RawText<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.text {
            Some(_) => seed.deserialize(StrDeserializer::new(SERDE_RAW)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text.take().unwrap_or("null")))
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use serde::Deserialize;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;
    use crate::json::from_str;

    fn same(text: &str) {
        let ours = from_str::<Value>(text).ok();
        let theirs = serde_json::from_str::<Value>(text).ok();
        assert_eq!(ours, theirs, "{text}");
        let skipped = Reader::new(text).raw().is_ok_and(|raw| raw == text.trim());
        assert_eq!(skipped, serde_json::from_str::<&RawValue>(text).is_ok(), "skip {text}");
    }

    #[test]
    fn it_reads_what_serde_json_reads() {
        for text in [
            "null",
            "true",
            " false ",
            "0",
            "-0",
            "-1",
            "1.5",
            "1e3",
            "1E+3",
            "-1.5e-3",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "\"\"",
            "\"a\"",
            "\"a long string without an escape in it\"",
            "\"a\\nb\\u00e4\\\\ and a long string with escapes\\t\"",
            "\"ä€😀\"",
            "[]",
            "[ ]",
            "{}",
            "{ }",
            "[1,2]",
            "[1 , [2, {\"a\" : [] }]]",
            "{\"a\":1,\"b\":{\"c\":[null]}}",
            "{\"a\":1,\"a\":2}",
            "\"\u{7f}\"",
        ] {
            same(text);
        }
    }

    #[test]
    fn it_refuses_what_serde_json_refuses() {
        for text in [
            "",
            " ",
            "nul",
            "nulls",
            "tru",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "1x",
            "\"",
            "\"a",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"a\tb\"",
            "\"eight by\u{1}tes and more\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1]",
            "1 1",
            "[]]",
        ] {
            same(text);
        }
    }

    #[test]
    fn depth_is_limited_as_serde_json_limits_it() {
        for depth in [126, 127, 128, 129, 130, 1_000_000] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let ours = from_str::<de::IgnoredAny>(&text).is_ok();
            assert_eq!(ours, depth <= 128, "{depth}");
            if depth < 1000 {
                assert_eq!(from_str::<Value>(&text).is_ok(), depth <= 128, "{depth}");
            }
        }
        let mixed = format!("{}1{}", "[{\"a\":".repeat(64), "}]".repeat(64));
        assert!(Reader::new(&mixed).raw().is_ok());
    }

    #[test]
    fn types_of_all_shapes_are_read() {
        #[derive(Debug, PartialEq, Deserialize)]
        enum Shape {
            Unit,
            New(u8),
            Tuple(u8, u8),
            Struct { a: Option<i8> },
        }
        #[derive(Debug, PartialEq, Deserialize)]
        struct All<'a> {
            shapes: Vec<Shape>,
            map: BTreeMap<String, f64>,
            #[serde(borrow)]
            text: &'a str,
            tuple: (u8, char),
            none: Option<u8>,
            unit: (),
        }
        let text = r#"{"shapes":["Unit",{"New":1},{"Tuple":[1,2]},{"Struct":{"a":-1}}],"map":{"x":1},"text":"t","tuple":[1,"c"],"none":null,"unit":null,"more":[{}]}"#;
        assert_eq!(from_str::<All<'_>>(text).unwrap(), serde_json::from_str(text).unwrap());
        assert!(from_str::<(u8,)>("[1,2]").is_err());
        assert!(from_str::<Shape>(r#"{"New":1,"Tuple":2}"#).is_err());
    }

    #[test]
    fn raw_values_of_serde_json_are_served() {
        #[derive(Deserialize)]
        struct Raws<'a> {
            #[serde(borrow)]
            a: &'a RawValue,
            b: Box<RawValue>,
        }
        let raws: Raws<'_> = from_str(r#"{"a": [1, 2] ,"b":"x"}"#).unwrap();
        assert_eq!((raws.a.get(), raws.b.get()), ("[1, 2]", "\"x\""));
    }

    #[test]
    fn an_error_knows_its_place() {
        let error = from_str::<Vec<u8>>("[1,\"x\"]").unwrap_err();
        assert_eq!(error.offset(), 6);
        assert!(error.reason().contains("invalid type"), "{error}");
        assert_eq!(from_str::<Value>("[1,}").unwrap_err().offset(), 3);
    }
}
