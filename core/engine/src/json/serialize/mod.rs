//! The writer: any type that serialises, as JSON text at the end of a buffer.
//!
//! `serde_json` would write into a buffer of its own, to be copied from, and looks at a string byte by byte. The text is the
//! same but for raw JSON (that of [`Json`](super::Json) and of `serde_json`'s `RawValue`), whose line breaks become spaces:
//! what is written is one line.

mod compound;
mod error;
mod place;

use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use serde::Serialize;
use serde::ser::{self, Serializer};

use self::compound::Compound;
use self::error::Result;
pub(crate) use self::error::WriteError;
use self::place::{Place, Value};
use super::append::{push_number, push_signed, push_string};
use super::serde_names::{SERDE_NUMBER, SERDE_RAW};

/// Appends `value` as JSON. On failure a part of it is there.
pub(crate) fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<()> {
    value.serialize(Writer::<Value>::at(out))
}

/// `value` as JSON.
pub(crate) fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut out = Vec::new();
    append(&mut out, value)?;
    String::from_utf8(out).map_err(ser::Error::custom)
}

/// Writes one value at a place.
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

    /// Begins an object of one member, which is named after a variant and has its contents.
    fn begin_variant(self, variant: &str) -> Result<&'a mut Vec<u8>> {
        P::compound()?;
        self.out.push(b'{');
        push_string(self.out, variant);
        self.out.push(b':');
        Ok(self.out)
    }

    /// A float, as `serde_json` writes it: there is no number for what is not finite.
    fn float(self, value: impl Serialize, is_finite: bool) -> Result<()> {
        if !is_finite {
            return P::null(self.out);
        }
        // A number cannot fail to serialise.
        P::scalar(self.out, |out| out.extend_from_slice(&serde_json::to_vec(&value).unwrap_or_default()))
    }
}

/// Methods for numbers that are written as another type would be.
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
