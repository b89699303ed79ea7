//! [`push_value`]: appends a value as JSON text to a buffer, by a serde serializer.
//!
//! The text is the same as that of `serde_json`, which examines strings byte by byte, and without std can only write to
//! a buffer of its own. With it, a call with a text of 64 bytes takes 1,100 instructions more, an eighth of all.

use alloc::vec::Vec;
use core::mem;

use serde::ser::{self, Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::{Error, Result, Value};

use super::append::{SERDE_NUMBER, SERDE_RAW, push_raw, push_string};

/// The space in bytes for a value that gets a buffer of its own: 128. Most arguments are shorter.
const USUAL_LENGTH: usize = 128;

/// Appends a value as JSON text without line breaks. After an error, `out` is unchanged.
pub fn push_value<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    let start = out.len();
    if out.capacity() == 0 {
        // Otherwise a buffer of its own would grow several times.
        out.reserve(USUAL_LENGTH);
    }
    value.serialize(Writer(out)).inspect_err(|_| out.truncate(start))
}

/// Appends one value to the buffer. After an error, the buffer may contain a part of the value.
pub(super) struct Writer<'a>(pub(super) &'a mut Vec<u8>);

impl<'a> Writer<'a> {
    fn open(self, open: &[u8], close: &'static [u8]) -> Compound<'a> {
        self.0.extend_from_slice(open);
        Compound { out: self.0, close, has_parts: false }
    }

    /// Begins an enum variant with data: an object whose only member is the data.
    fn open_variant(self, variant: &str, open: &[u8], close: &'static [u8]) -> Compound<'a> {
        self.0.push(b'{');
        push_string(self.0, variant);
        self.0.push(b':');
        self.open(open, close)
    }
}

/// Implements the methods of [`Serializer`] for integers.
macro_rules! integers {
    ($( $method:ident($Integer:ty) )*) => { $(
        fn $method(self, value: $Integer) -> Result<()> {
            self.0.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        }
    )* };
}

/// Implements the methods of [`Serializer`] for other values with a short text.
macro_rules! scalars {
    ($( $method:ident($Scalar:ty) )*) => { $(
        fn $method(self, value: $Scalar) -> Result<()> {
            self.0.extend_from_slice(&serde_json::to_vec(&value)?);
            Ok(())
        }
    )* };
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    scalars! { serialize_bool(bool) serialize_char(char) serialize_f32(f32) serialize_f64(f64) }

    fn serialize_str(self, text: &str) -> Result<()> {
        push_string(self.0, text);
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<()> {
        self.collect_seq(bytes)
    }

    fn serialize_unit(self) -> Result<()> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.collect_map([(variant, value)])
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>> {
        Ok(self.open(b"[", b"]"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'a>> {
        Ok(self.open(b"{", b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'a>> {
        let is_raw = name == SERDE_RAW || name == SERDE_NUMBER;
        Ok(if is_raw { self.open(b"", b"") } else { self.open(b"{", b"}") })
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Compound<'a>> {
        Ok(self.open_variant(variant, b"[", b"]}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'a>> {
        Ok(self.open_variant(variant, b"{", b"}}"))
    }
}

/// Appends an array or object part by part.
pub(super) struct Compound<'a> {
    out: &'a mut Vec<u8>,
    /// The text behind the last part. Empty for JSON text, which serde passes as a struct whose only field is a string.
    close: &'static [u8],
    has_parts: bool,
}

impl Compound<'_> {
    fn separate(&mut self) {
        if mem::replace(&mut self.has_parts, true) {
            self.out.push(b',');
        }
    }
}

impl SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        let start = self.out.len();
        key.serialize(Writer(self.out))?;
        match self.out.get(start) {
            Some(b'"') => Ok(()),
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.out.insert(start, b'"');
                self.out.push(b'"');
                Ok(())
            }
            _ => Err(Error::custom("key must be a string")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<()> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

/// Implements the traits for arrays.
macro_rules! arrays {
    ($( $Trait:ident::$method:ident )*) => { $(
        impl ser::$Trait for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.separate();
                value.serialize(Writer(self.out))
            }

            fn end(self) -> Result<()> {
                SerializeMap::end(self)
            }
        }
    )* };
}

arrays! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

/// Implements the traits for structs.
macro_rules! structs {
    ($( $Trait:ident )*) => { $(
        impl ser::$Trait for Compound<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
                if !self.close.is_empty() {
                    return self.serialize_entry(key, value);
                }
                match serde_json::to_value(value)? {
                    Value::String(text) => Ok(push_raw(self.out, text)),
                    _ => Err(Error::custom("expected JSON text")),
                }
            }

            fn end(self) -> Result<()> {
                SerializeMap::end(self)
            }
        }
    )* };
}

structs! { SerializeStruct SerializeStructVariant }

#[cfg(test)]
mod tests {
    use alloc::borrow::Cow;
    use alloc::collections::BTreeMap;
    use alloc::string::String;

    use serde_json::value::RawValue;

    use super::super::Json;
    use super::*;

    fn assert_same(value: &(impl Serialize + ?Sized)) {
        let mut out = Vec::from(&b"before"[..]);
        let written = push_value(&mut out, value);
        match serde_json::to_vec(value) {
            Ok(expected) => assert_eq!(out.strip_prefix(b"before"), Some(&expected[..])),
            Err(_) => assert_eq!((written.is_err(), &out[..]), (true, &b"before"[..])),
        }
    }

    #[derive(Serialize)]
    enum Enum<'a> {
        Unit,
        Newtype(Option<&'a str>),
        Tuple(u8, char),
        Struct { a: [u8; 0], b: () },
    }

    #[derive(Serialize)]
    struct Newtype<T>(T);

    #[derive(Serialize)]
    struct Tuple(bool, f32, f64);

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Struct<'a> {
        #[serde(rename = "a \"key\"")]
        text: Cow<'a, str>,
        list: Vec<Enum<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<u8>,
        #[serde(flatten)]
        rest: BTreeMap<&'a str, i64>,
        raw: &'a RawValue,
        json: Json,
    }

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let all = || [Enum::Unit, Enum::Newtype(None), Enum::Tuple(9, '"'), Enum::Struct { a: [], b: () }].into();
        let raw = RawValue::from_string(String::from(r#"{"a": [1.0, "\n"]}"#)).unwrap();
        assert_same(&Struct {
            text: "ä\u{1}\n\\".into(),
            list: all(),
            absent: None,
            rest: BTreeMap::from([("x", i64::MIN), ("y", i64::MAX)]),
            raw: &raw,
            json: Json::parse(r#"[{}, 1e400, "\ud83d"]"#).unwrap(),
        });
        assert_same(&[Some(Newtype(u64::MAX)), None]);
        assert_same(&(i128::MIN, u128::MAX, Unit, "", [true; 2]));
        assert_same(&[Tuple(true, 0.1, 1e300), Tuple(false, f32::NAN, f64::INFINITY), Tuple(false, -0.0, 1.0)]);
        assert_same(&serde_json::json!({ "a": [null, {}, [], -1, 1.5, "text"], "": { "b": false } }));
    }

    #[test]
    fn keys_are_written_as_serde_json_writes_them() {
        assert_same(&BTreeMap::from([(1, "a"), (-2, "b")]));
        assert_same(&BTreeMap::from([(true, 1)]));
        assert_same(&BTreeMap::from([('"', 1), ('a', 2)]));
        assert_same(&BTreeMap::from([(Some(NewtypeKey("a")), 1)]));
        assert_same(&BTreeMap::from([(None::<u8>, 1)]));
        assert_same(&BTreeMap::from([([1], 1)]));
        assert_same(&BTreeMap::from([((), 1)]));
    }

    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    struct NewtypeKey(&'static str);

    #[test]
    fn raw_json_becomes_one_line() {
        let raw = RawValue::from_string(String::from("{\r\n\t\"a\":\n1}")).unwrap();
        let mut out = Vec::new();
        push_value(&mut out, &(&raw, Json::parse("[\n]").unwrap())).unwrap();
        assert_eq!(out, b"[{  \t\"a\": 1},[ ]]");
    }
}
