//! Arrays and objects, element by element.

use alloc::vec::Vec;

use serde::Serialize;
use serde::ser;

use super::super::append::push_string;
use super::error::{Result, WriteError};
use super::place::{Key, Raw};
use super::{Writer, append};

/// What is inside of an array or object that has begun.
pub(super) struct Compound<'a> {
    out: &'a mut Vec<u8>,
    begun: bool,
    /// It is no object: its one field is the text of the value.
    raw: bool,
}

impl<'a> Compound<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut Vec<u8>, open: u8) -> Self {
        out.push(open);
        Compound { out, begun: false, raw: false }
    }

    pub(super) fn raw(out: &'a mut Vec<u8>) -> Self {
        Compound { out, begun: false, raw: true }
    }
}

impl Compound<'_> {
    #[inline]
    fn separate(&mut self) {
        if core::mem::replace(&mut self.begun, true) {
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
        if self.raw {
            return value.serialize(Writer::<Raw>::at(self.out));
        }
        self.member(key, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        if !self.raw {
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
