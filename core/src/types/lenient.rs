//! Reading values that may be anything, in one pass, so that one bad thing spoils only itself.
//!
//! A type that implements [`Lenient`] takes any JSON value: it either is one of its own, or it is passed over and reported
//! as a [`Mismatch`]. No error is built on the way of good values, nothing is read twice, and text that is not JSON at all
//! is still an error of the whole message.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json::read::{OR_RAW, Reader};
use crate::json::{Json, RawText};

/// Why a value is not of the type that was hoped for.
#[derive(Debug)]
pub(crate) enum Mismatch {
    /// It is of another JSON type; says which.
    Type(&'static str),
    /// It is an object, but this is wrong with it. The name is that of the object, where it has one.
    Object { reason: Cow<'static, str>, name: Option<String> },
}

impl Mismatch {
    /// The reason in words, for a value that ought to be `expected`.
    pub(crate) fn reason(self, expected: &str) -> Cow<'static, str> {
        match self {
            Mismatch::Type(found) => alloc::format!("{found} instead of {expected}").into(),
            Mismatch::Object { reason, .. } => reason,
        }
    }
}

/// A type that can be hoped for.
pub(crate) trait Lenient<'de>: Sized {
    /// What it is, in words.
    const EXPECTED: &'static str;

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error>;
}

/// Reads a `T` wherever serde wants a seed.
pub(crate) struct Hope<T>(PhantomData<T>);

impl<T> Hope<T> {
    pub(crate) const fn new() -> Self {
        Hope(PhantomData)
    }
}

impl<'de, T: Lenient<'de>> DeserializeSeed<'de> for Hope<T> {
    type Value = Result<T, Mismatch>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        T::lenient(deserializer)
    }
}

/// The visitor methods for values of a type that was not hoped for: they pass over the value.
macro_rules! mismatch {
    ($($kind:ident)*) => { $( $crate::types::lenient::mismatch!(@ $kind); )* };
    (@ bool) => { fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("a boolean"))) } };
    (@ number) => {
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("a number"))) }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("a number"))) }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("a number"))) }
    };
    (@ string) => { fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("a string"))) } };
    (@ null) => { fn visit_unit<E>(self) -> Result<Self::Value, E> { Ok(Err(Mismatch::Type("null"))) } };
    (@ array) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Err(Mismatch::Type("an array")))
        }
    };
    (@ object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Err(Mismatch::Type("an object")))
        }
    };
}
pub(crate) use mismatch;

/// The visitor methods for bare values, which `$wrap` takes as JSON.
macro_rules! scalars {
    ($wrap:expr) => {
        $crate::types::lenient::scalars!(@ $wrap; visit_str: &str, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
    };
    (@ $wrap:expr; $($visit:ident: $ty:ty),*) => { $(
        fn $visit<E>(self, value: $ty) -> Result<Self::Value, E> {
            Ok($wrap($crate::json::Json::from_value(&value).unwrap_or_default()))
        }
    )* };
}
pub(crate) use scalars;

impl<'de> Lenient<'de> for String {
    const EXPECTED: &'static str = "a string";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        struct StringVisitor;
        impl<'de> Visitor<'de> for StringVisitor {
            type Value = Result<String, Mismatch>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Ok(text.into()))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Ok(text))
            }

            mismatch!(bool number null array object);
        }
        deserializer.deserialize_any(StringVisitor)
    }
}

impl<'de> Lenient<'de> for bool {
    const EXPECTED: &'static str = "a boolean";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        struct BoolVisitor;
        impl<'de> Visitor<'de> for BoolVisitor {
            type Value = Result<bool, Mismatch>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean")
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Ok(value))
            }

            mismatch!(number string null array object);
        }
        deserializer.deserialize_any(BoolVisitor)
    }
}

/// Numbers are taken as text: whatever features another crate of the application switches on in `serde_json`, their text
/// stays the same.
impl<'de> Lenient<'de> for f64 {
    const EXPECTED: &'static str = "a number";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        let RawText(raw) = RawText::deserialize(deserializer)?;
        Ok(match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => {
                raw.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(Mismatch::Type("another number"))
            }
            first => Err(Mismatch::Type(type_by(first))),
        })
    }
}

impl<'de> Lenient<'de> for u64 {
    const EXPECTED: &'static str = "a whole number";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        let RawText(raw) = RawText::deserialize(deserializer)?;
        Ok(match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => {
                crate::rpc::WireId(raw.as_bytes()).ours().ok_or(Mismatch::Type("another number"))
            }
            first => Err(Mismatch::Type(type_by(first))),
        })
    }
}

/// Any value but `null`, which stands for an absent one.
impl<'de> Lenient<'de> for Json {
    const EXPECTED: &'static str = "a value";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        let RawText(raw) = RawText::deserialize(deserializer)?;
        Ok(if raw == "null" { Err(Mismatch::Type("null")) } else { Ok(Json::trusted(raw)) })
    }
}

impl<'de, T: Lenient<'de>> Lenient<'de> for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        Ok(T::lenient(deserializer)?.map(Box::new))
    }
}

/// A list that leaves out what does not fit. Where the leaving out must be told, [`Listed`](super::Listed) is used.
impl<'de, T: Lenient<'de>> Lenient<'de> for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Lenient<'de>> Visitor<'de> for ListVisitor<T> {
            type Value = Result<Vec<T>, Mismatch>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element_seed(Hope::<T>::new())? {
                    list.extend(element.ok());
                }
                Ok(Ok(list))
            }

            mismatch!(bool number string null object);
        }
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

/// A value that is of the type that was hoped for, or is kept as its text.
pub(crate) struct OrRaw<T>(pub(crate) Result<T, Json>);

impl<'de, T: Lenient<'de>> Deserialize<'de> for OrRaw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrRawVisitor<T>(PhantomData<T>);
        impl<'de, T: Lenient<'de>> Visitor<'de> for OrRawVisitor<T> {
            type Value = OrRaw<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }

            /// From our reader: the value, and then its text.
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                if let Some(Ok(value)) = seq.next_element_seed(Hope::<T>::new())? {
                    return Ok(OrRaw(Ok(value)));
                }
                let text: Option<&str> = seq.next_element()?;
                Ok(OrRaw(Err(text.map_or_else(Json::default, Json::trusted))))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                let RawText(text) = RawText::deserialize(deserializer)?;
                let hoped = T::lenient(&mut Reader::new(text)).map_err(serde::de::Error::custom)?;
                Ok(OrRaw(hoped.map_err(|_| Json::trusted(text))))
            }
        }
        deserializer.deserialize_newtype_struct(OR_RAW, OrRawVisitor(PhantomData))
    }
}

/// The JSON type that a text of this first byte has.
pub(crate) fn type_by(first: Option<&u8>) -> &'static str {
    match first {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}
