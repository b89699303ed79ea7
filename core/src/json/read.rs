//! The reader: JSON text in memory to any type that serde knows, in one pass.
//!
//! `serde_json` reads a byte at a time and collects a string with escapes in a second buffer: ten instructions a byte, where
//! tools answer with megabytes of source code in one string. This reader looks at eight bytes at a time, gives out opaque
//! parts as the text that they are, undoes escapes into the string's final place, and checks all that it passes over, so
//! that what is kept as [`Json`](super::Json) is JSON. Nesting is limited, and nothing in here recurses by itself.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

use super::string::{self, Fault};

/// How deep values may be nested: as deep as `serde_json` reads, so that what passes here can be parsed there.
const MAX_DEPTH: u32 = 128;

/// The name by which [`Json`](super::Json) asks for raw text.
pub(crate) const RAW: &str = "$mcpwire::Json";

/// The name by which `OrRaw` asks for a value and then for its text.
pub(crate) const OR_RAW: &str = "$mcpwire::OrRaw";

/// The name by which `serde_json::value::RawValue` asks for it and gives it. It is theirs; a test notices if it changes.
pub(crate) const SERDE_RAW: &str = "$serde_json::private::RawValue";

/// Why a text could not be read, and at which byte.
#[derive(Debug)]
pub(crate) struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    what: String,
    at: Option<usize>,
}

impl ReadError {
    fn at(what: &str, at: usize) -> Self {
        ReadError(Box::new(Inner { what: what.to_string(), at: Some(at) }))
    }

    pub(crate) fn what(&self) -> &str {
        &self.0.what
    }

    pub(crate) fn offset(&self) -> usize {
        self.0.at.unwrap_or(0)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what())
    }
}

impl core::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ReadError(Box::new(Inner { what: message.to_string(), at: None }))
    }
}

#[cold]
fn fault((what, at): Fault) -> ReadError {
    ReadError::at(what, at)
}

/// What stands between the quotes of a string.
enum Body<'de> {
    /// The text as it is.
    Plain(&'de str),
    /// A text that had escapes.
    Unescaped(String),
}

type Result<T> = core::result::Result<T, ReadError>;

/// Reads a whole text.
pub(crate) fn from_str<'de, T: de::Deserialize<'de>>(text: &'de str) -> Result<T> {
    let mut reader = Reader::new(text);
    let value = T::deserialize(&mut reader).map_err(|error| reader.locate(error))?;
    reader.end()?;
    Ok(value)
}

pub(crate) struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: u32,
}

impl<'de> Reader<'de> {
    pub(crate) fn new(text: &'de str) -> Self {
        Reader { text, at: 0, depth: 0 }
    }

    /// Reads from the inside of an object on.
    pub(crate) fn within(text: &'de str, at: usize) -> Self {
        Reader { text, at, depth: 1 }
    }

    /// Whether everything before this place has been read, and nothing of what follows.
    pub(crate) fn is_at(&self, at: usize) -> bool {
        self.at == at
    }

    /// Whether the object that this is within ends here, and the text with it.
    pub(crate) fn closes(&mut self) -> bool {
        if self.next_byte() != Some(b'}') {
            return false;
        }
        self.at += 1;
        self.next_byte().is_none()
    }

    /// Makes sure that nothing follows.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.error("more text after the end of the value")),
        }
    }

    /// An error of a visitor's does not know where it happened: where the reader is.
    pub(crate) fn locate(&self, mut error: ReadError) -> ReadError {
        error.0.at.get_or_insert(self.at);
        error
    }

    /// One value, whatever it is, as its text.
    pub(crate) fn raw(&mut self) -> Result<&'de str> {
        self.next_byte();
        let start = self.at;
        self.skip()?;
        Ok(&self.text[start..self.at])
    }

    #[cold]
    fn error(&self, what: &str) -> ReadError {
        ReadError::at(what, self.at)
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over space; gives the byte after it, and stays there.
    #[inline]
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    #[inline]
    fn string(&mut self) -> Result<Body<'de>> {
        let start = self.at + 1;
        match string::plain_end(self.text.as_bytes(), start) {
            Ok(end) => {
                self.at = end + 1;
                Ok(Body::Plain(&self.text[start..end]))
            }
            Err(special) => {
                let (text, after) = string::read_escaped(self.text.as_bytes(), start, special).map_err(fault)?;
                self.at = after;
                Ok(Body::Unescaped(text))
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<()> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("neither a value nor the end of one"))
        }
    }

    /// The text of a number (RFC 8259, section 6), and whether it is a whole one.
    fn number(&mut self) -> Result<(&'de str, bool)> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let mut at = start + usize::from(bytes[start] == b'-');
        let digits = |mut at: usize| {
            let from = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            (at, at > from)
        };
        let leading_zero = bytes.get(at) == Some(&b'0');
        let (after, mut good) = digits(at);
        good &= !(leading_zero && after > at + 1);
        at = after;
        let mut whole = true;
        if bytes.get(at) == Some(&b'.') {
            whole = false;
            let (after, some) = digits(at + 1);
            good &= some;
            at = after;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            whole = false;
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            let (after, some) = digits(at);
            good &= some;
            at = after;
        }
        if !good {
            return Err(self.error("not a number"));
        }
        self.at = at;
        Ok((&self.text[start..at], whole))
    }

    /// Passes over a value and checks it. The kinds of what it is in are kept as bits, so depth costs no stack.
    fn skip(&mut self) -> Result<()> {
        let mut objects = 0u128;
        let mut depth = 0;
        loop {
            match self.next_byte() {
                Some(b'"') => self.skip_string()?,
                Some(open @ (b'{' | b'[')) => {
                    if self.depth + depth >= MAX_DEPTH {
                        return Err(self.error("nested deeper than 128 levels"));
                    }
                    self.at += 1;
                    let empty = self.next_byte() == Some(open + 2);
                    if empty {
                        self.at += 1;
                    } else {
                        objects = objects << 1 | u128::from(open == b'{');
                        depth += 1;
                        if open == b'{' {
                            self.skip_key()?;
                        }
                        continue;
                    }
                }
                Some(b'-' | b'0'..=b'9') => drop(self.number()?),
                Some(b't') => self.literal("true")?,
                Some(b'f') => self.literal("false")?,
                Some(b'n') => self.literal("null")?,
                Some(_) => return Err(self.error("not a value")),
                None => return Err(self.error("the text ends in the middle of a value")),
            }
            loop {
                if depth == 0 {
                    return Ok(());
                }
                let in_object = objects & 1 == 1;
                match self.next_byte() {
                    Some(b',') => {
                        self.at += 1;
                        if in_object {
                            self.skip_key()?;
                        }
                        break;
                    }
                    Some(b'}') if in_object => {}
                    Some(b']') if !in_object => {}
                    Some(_) => return Err(self.error("neither `,` nor the end of what it stands in")),
                    None => return Err(self.error("the text ends in the middle of a value")),
                }
                self.at += 1;
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    #[inline]
    fn key(&mut self) -> Result<()> {
        match self.next_byte() {
            Some(b'"') => Ok(()),
            Some(_) => Err(self.error("not a key")),
            None => Err(self.error("the text ends where a key should be")),
        }
    }

    #[inline]
    fn skip_key(&mut self) -> Result<()> {
        self.key()?;
        self.skip_string()?;
        self.colon()
    }

    #[inline]
    fn skip_string(&mut self) -> Result<()> {
        self.at = match string::plain_end(self.text.as_bytes(), self.at + 1) {
            Ok(end) => end + 1,
            Err(special) => string::skip_escaped(self.text.as_bytes(), special).map_err(fault)?,
        };
        Ok(())
    }

    #[inline]
    fn colon(&mut self) -> Result<()> {
        if self.next_byte() != Some(b':') {
            return Err(self.error("no `:` after a key"));
        }
        self.at += 1;
        Ok(())
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested deeper than 128 levels"));
        }
        self.at += 1;
        Ok(())
    }

    /// Leaves an array or object that its visitor has read to the end.
    fn leave(&mut self, close: u8) -> Result<()> {
        if self.next_byte() != Some(close) {
            return Err(self.error("more elements than were expected"));
        }
        self.depth -= 1;
        self.at += 1;
        Ok(())
    }

    /// Whether another element follows in what ends with `close`.
    #[inline]
    fn another(&mut self, first: &mut bool, close: u8) -> Result<bool> {
        match self.next_byte() {
            Some(byte) if byte == close => Ok(false),
            Some(_) if core::mem::take(first) => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Err(self.error("neither `,` nor the end of what it stands in")),
            None => Err(self.error("the text ends in the middle of a value")),
        }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next_byte() {
            Some(b'"') => match self.string()? {
                Body::Plain(text) => visitor.visit_borrowed_str(text),
                Body::Unescaped(text) => visitor.visit_string(text),
            },
            Some(b'{') => {
                self.enter()?;
                let value = visitor.visit_map(Elements { reader: self, first: true })?;
                self.leave(b'}')?;
                Ok(value)
            }
            Some(b'[') => {
                self.enter()?;
                let value = visitor.visit_seq(Elements { reader: self, first: true })?;
                self.leave(b']')?;
                Ok(value)
            }
            Some(b'-' | b'0'..=b'9') => {
                let start = self.at;
                let (text, whole) = self.number()?;
                // Minus zero is no whole number of Rust's.
                if whole && text != "-0" {
                    if let Ok(value) = text.parse::<u64>() {
                        return visitor.visit_u64(value);
                    }
                    if let Ok(value) = text.parse::<i64>() {
                        return visitor.visit_i64(value);
                    }
                }
                match text.parse::<f64>() {
                    Ok(value) if value.is_finite() => visitor.visit_f64(value),
                    _ => Err(ReadError::at("a number that is out of range", start)),
                }
            }
            Some(b't') => self.literal("true").and_then(|()| visitor.visit_bool(true)),
            Some(b'f') => self.literal("false").and_then(|()| visitor.visit_bool(false)),
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_unit()),
            Some(_) => Err(self.error("not a value")),
            None => Err(self.error("the text ends where a value should be")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next_byte() {
            Some(b'n') => self.literal("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        match name {
            RAW => visitor.visit_borrowed_str(self.raw()?),
            OR_RAW => {
                self.next_byte();
                let start = self.at;
                visitor.visit_seq(ValueThenText { reader: self, start, value_read: false })
            }
            SERDE_RAW => {
                let raw = self.raw()?;
                visitor.visit_map(SerdeRaw { raw: Some(raw) })
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.next_byte() {
            Some(b'"') => match self.string()? {
                Body::Plain(text) => visitor.visit_enum(text.into_deserializer()),
                Body::Unescaped(text) => visitor.visit_enum(text.into_deserializer()),
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

/// The elements of an array, or the members of an object.
struct Elements<'r, 'de> {
    reader: &'r mut Reader<'de>,
    first: bool,
}

impl<'de> de::SeqAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.reader.another(&mut self.first, b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

impl<'de> de::MapAccess<'de> for Elements<'_, 'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.reader.another(&mut self.first, b'}')? {
            return Ok(None);
        }
        self.reader.key()?;
        match self.reader.string()? {
            Body::Plain(text) => seed.deserialize(BorrowedStrDeserializer::new(text)).map(Some),
            Body::Unescaped(text) => seed.deserialize(text.into_deserializer()).map(Some),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        self.reader.colon()?;
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant with contents: `{"name": contents}`.
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

/// A value, and then the text that it was read from.
struct ValueThenText<'r, 'de> {
    reader: &'r mut Reader<'de>,
    start: usize,
    value_read: bool,
}

impl<'de> de::SeqAccess<'de> for ValueThenText<'_, 'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !core::mem::replace(&mut self.value_read, true) {
            return seed.deserialize(&mut *self.reader).map(Some);
        }
        let text = &self.reader.text[self.start..self.reader.at];
        seed.deserialize(BorrowedStrDeserializer::new(text)).map(Some)
    }
}

/// Raw text in the form in which `serde_json::value::RawValue` takes it.
struct SerdeRaw<'de> {
    raw: Option<&'de str>,
}

impl<'de> de::MapAccess<'de> for SerdeRaw<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        match self.raw {
            Some(_) => seed.deserialize(StrDeserializer::new(SERDE_RAW)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.raw.take().unwrap_or("null")))
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::vec::Vec;

    use serde::Deserialize;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

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
        assert!(error.what().contains("invalid type"), "{error}");
        assert_eq!(from_str::<Value>("[1,}").unwrap_err().offset(), 3);
    }
}
