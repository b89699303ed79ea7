//! From serde to the types that read themselves.
//!
//! The types of the protocol are read by functions of a [`Reader`], which are compiled once; a visitor for each of them
//! would be compiled for each kind of deserialiser, and makes some kilobytes. To serde they are one newtype struct of a name
//! that our reader knows: it gives the rest of its text, and is told how far that was read. Other deserialisers give the
//! value's text, as `serde_json` does from text in memory.

use alloc::boxed::Box;
use core::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::read::{self, HAND_OVER, ReadError, Reader};

/// What a type is read with.
pub(crate) type Read<T> = fn(&mut Reader<'_>) -> read::Result<T>;

/// Reads a value from any deserialiser.
pub(crate) fn deserialize<'de, T, D: Deserializer<'de>>(deserializer: D, read: Read<T>) -> Result<T, D::Error> {
    deserializer.deserialize_newtype_struct(HAND_OVER, HandOver(read))
}

struct HandOver<T>(Read<T>);

impl<'de, T> Visitor<'de> for HandOver<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    /// From our reader: its text from here on, and how deep that is.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        let depth = seq.size_hint().and_then(|depth| u32::try_from(depth).ok()).unwrap_or(0);
        let text = seq.next_element::<&str>()?.unwrap_or_default();
        let mut reader = Reader { text, at: 0, depth };
        let value = (self.0)(&mut reader).map_err(|error| reader.locate(error));
        seq.next_element_seed(Passed(match &value {
            Ok(_) => reader.at,
            Err(error) => error.offset(),
        }))?;
        value.map_err(A::Error::custom)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        (self.0)(&mut Reader::new(text.get())).map_err(D::Error::custom)
    }
}

/// Tells our reader how many bytes have been read.
struct Passed(usize);

impl<'de> DeserializeSeed<'de> for Passed {
    type Value = IgnoredAny;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<IgnoredAny, D::Error> {
        deserializer.deserialize_tuple(self.0, IgnoredAny)
    }
}

/// The other side of the bargain: what our reader gives to [`HandOver`].
pub(super) struct Rest<'r, 'de> {
    pub(super) reader: &'r mut Reader<'de>,
}

impl<'de> SeqAccess<'de> for Rest<'_, 'de> {
    type Error = ReadError;

    fn size_hint(&self) -> Option<usize> {
        usize::try_from(self.reader.depth).ok()
    }

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> read::Result<Option<T::Value>> {
        seed.deserialize(Rest { reader: self.reader }).map(Some)
    }
}

impl<'de> Deserializer<'de> for Rest<'_, 'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> read::Result<V::Value> {
        visitor.visit_borrowed_str(self.reader.text.get(self.reader.at..).unwrap_or_default())
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> read::Result<V::Value> {
        self.reader.at += len;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple_struct map struct enum identifier ignored_any
    }
}
