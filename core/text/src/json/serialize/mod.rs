//! The writer: serializes a value as JSON text, and appends it to a buffer.
//!
//! The text is the same as that of `serde_json`, with one exception: spaces replace line breaks in raw JSON
//! ([`Json`](super::Json) and `serde_json::value::RawValue`), so the text is always one line.
//!
//! Without std, `serde_json` can only write to a buffer of its own, from which the text would have to be copied. It
//! also examines strings byte by byte.

mod place;

use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use serde::Serialize;
use serde::ser::{self, Serializer};

use self::place::{Key, Place, Raw, Value};
use super::append::{push_number, push_signed, push_string};
use super::error::{WriteError, WriteResult as Result};
use super::transcode::{SERDE_NUMBER, SERDE_RAW};

/// Appends a value as JSON text to `out`. After an error, `out` may contain a part of the value.
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    value.serialize(Writer::<Value>::at(out))
}

/// Serializes a value to JSON text without line breaks.
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut out = Vec::new();
    append(&mut out, value)?;
    String::from_utf8(out).map_err(ser::Error::custom)
}

/// A serde serializer that appends one value to `out` as JSON text. `P` says where the value is written, for example as
/// an object key.
struct Writer<'a, P> {
    out: &'a mut Vec<u8>,
    place: PhantomData<P>,
}

impl<'a, P: Place> Writer<'a, P> {
    #[inline]
    fn at(out: &'a mut Vec<u8>) -> Self {
        Writer { out, place: PhantomData }
    }

    #[inline]
    fn begin(self, open: u8) -> Result<Compound<'a>> {
        P::compound()?;
        Ok(Compound::open(self.out, open))
    }

    /// Appends the start of an enum variant with data: an opening brace, the variant's name and a colon.
    ///
    /// The caller appends the data and the closing brace.
    fn begin_variant(self, variant: &str) -> Result<&'a mut Vec<u8>> {
        P::compound()?;
        self.out.push(b'{');
        push_string(self.out, variant);
        self.out.push(b':');
        Ok(self.out)
    }

    /// Appends a float in the format of `serde_json`. NaN and infinities are written as `null`.
    fn float(self, value: impl Serialize, is_finite: bool) -> Result<()> {
        if !is_finite {
            return P::null(self.out);
        }
        // Serializing a number cannot fail.
        P::scalar(self.out, |out| out.extend_from_slice(&serde_json::to_vec(&value).unwrap_or_default()))
    }
}

/// Implements the methods of a serde serializer for small integers, which are converted to `i64` or `u64`.
macro_rules! widened {
    ($($method:ident($from:ty) as $wide:ident($to:ty);)*) => { $(
        #[inline]
        fn $method(self, value: $from) -> Result<()> {
            self.$wide(<$to>::from(value))
        }
    )* };
}

impl<'a, P: Place> Serializer for Writer<'a, P> {
    type Ok = ();
    type Error = WriteError;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    widened! {
        serialize_i8(i8) as serialize_i64(i64);
        serialize_i16(i16) as serialize_i64(i64);
        serialize_i32(i32) as serialize_i64(i64);
        serialize_u8(u8) as serialize_u64(u64);
        serialize_u16(u16) as serialize_u64(u64);
        serialize_u32(u32) as serialize_u64(u64);
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        P::scalar(self.out, |out| out.extend_from_slice(if value { b"true" } else { b"false" }))
    }

    fn serialize_i64(self, value: i64) -> Result<()> {
        P::scalar(self.out, |out| push_signed(out, value))
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        P::scalar(self.out, |out| push_number(out, value))
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        P::scalar(self.out, |out| out.extend_from_slice(alloc::format!("{value}").as_bytes()))
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        P::scalar(self.out, |out| out.extend_from_slice(alloc::format!("{value}").as_bytes()))
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        P::string(self.out, value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<()> {
        P::string(self.out, value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<()> {
        P::null(self.out)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        P::null(self.out)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        P::null(self.out)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        P::string(self.out, variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let out = self.begin_variant(variant)?;
        append(out, value)?;
        out.push(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'a>> {
        self.begin(b'[')
    }

    #[inline]
    fn serialize_tuple(self, _len: usize) -> Result<Compound<'a>> {
        self.begin(b'[')
    }

    #[inline]
    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Compound<'a>> {
        self.begin(b'[')
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'a>> {
        Ok(Compound::open(self.begin_variant(variant)?, b'['))
    }

    #[inline]
    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'a>> {
        self.begin(b'{')
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<Compound<'a>> {
        if name == SERDE_RAW || name == SERDE_NUMBER {
            P::compound()?;
            return Ok(Compound::raw(self.out));
        }
        self.begin(b'{')
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Compound<'a>> {
        Ok(Compound::open(self.begin_variant(variant)?, b'{'))
    }
}

/// A serde serializer for one array or object: appends one element or member at a time.
struct Compound<'a> {
    out: &'a mut Vec<u8>,
    /// Whether an element or member was already written, so that a comma must precede the next one.
    has_elements: bool,
    /// Whether to write only the value of the struct's single field, without braces. Serde passes raw JSON text as such
    /// a struct.
    is_raw: bool,
}

impl<'a> Compound<'a> {
    #[inline]
    fn open(out: &'a mut Vec<u8>, open: u8) -> Self {
        out.push(open);
        Compound { out, has_elements: false, is_raw: false }
    }

    fn raw(out: &'a mut Vec<u8>) -> Self {
        Compound { out, has_elements: false, is_raw: true }
    }
}

impl Compound<'_> {
    /// Appends a comma, except before the first element or member.
    #[inline]
    fn separate(&mut self) {
        if core::mem::replace(&mut self.has_elements, true) {
            self.out.push(b',');
        }
    }

    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<()> {
        self.separate();
        push_string(self.out, key);
        self.out.push(b':');
        append(self.out, value)
    }
}

/// Implements the serde traits that serialize JSON arrays, such as `SerializeSeq`. `$close` is the text after the last
/// element.
macro_rules! arrays {
    ($($Trait:ident $method:ident ends $close:literal;)*) => { $(
        impl ser::$Trait for Compound<'_> {
            type Ok = ();
            type Error = WriteError;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.separate();
                append(self.out, value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.out.extend_from_slice($close);
                Ok(())
            }
        }
    )* };
}

arrays! {
    SerializeSeq serialize_element ends b"]";
    SerializeTuple serialize_element ends b"]";
    SerializeTupleStruct serialize_field ends b"]";
    SerializeTupleVariant serialize_field ends b"]}";
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        key.serialize(Writer::<Key>::at(self.out))
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        append(self.out, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.out.push(b'}');
        Ok(())
    }
}

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.is_raw {
            return value.serialize(Writer::<Raw>::at(self.out));
        }
        self.member(key, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        if !self.is_raw {
            self.out.push(b'}');
        }
        Ok(())
    }
}

impl ser::SerializeStructVariant for Compound<'_> {
    type Ok = ();
    type Error = WriteError;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        self.member(key, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.out.extend_from_slice(b"}}");
        Ok(())
    }
}
