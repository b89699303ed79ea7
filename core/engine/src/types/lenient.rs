//! Reading values that may be anything, in one pass, so that one bad thing spoils only itself.
//!
//! A type that implements [`Lenient`] takes any JSON value: it either is one of its own, or it is passed over and reported
//! as a [`Mismatch`]. No error is built on the way of good values, nothing is read twice, and text that is not JSON at all
//! is still an error of the whole message.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserializer;

use crate::json::read::{ReadError, Reader, Result as ReadResult};
use crate::json::{Json, hand_over};

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

/// A value, or why it is not one of those that were hoped for.
pub(crate) type Hoped<T> = Result<T, Mismatch>;

/// A type that can be hoped for.
pub(crate) trait Lenient: Sized {
    /// What it is, in words.
    const EXPECTED: &'static str;

    /// Reads a value. The error is that of a text that is not JSON.
    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>>;
}

/// Reads a value that must be a `T`.
pub(crate) fn strict<T: Lenient>(reader: &mut Reader<'_>) -> ReadResult<T> {
    T::lenient(reader)?.map_err(|mismatch| misread(mismatch, T::EXPECTED))
}

#[cold]
#[inline(never)]
fn misread(mismatch: Mismatch, expected: &str) -> ReadError {
    ReadError::new(mismatch.reason(expected))
}

/// As [`strict`], for serde.
pub(crate) fn deserialize<'de, T: Lenient, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    hand_over::deserialize(deserializer, strict::<T>)
}

/// Reads a whole text that must be a `T`.
pub(crate) fn from_str<T: Lenient>(text: &str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::lenient(&mut reader).ok()?.ok()?;
    reader.end().ok().map(|()| value)
}

/// Passes over a value of another type than was hoped for.
pub(crate) fn pass_over(reader: &mut Reader<'_>) -> ReadResult<Mismatch> {
    let raw = reader.raw()?;
    Ok(Mismatch::Type(type_by(raw.as_bytes().first())))
}

/// Reads a member that may be of any type into its place; `null` and values of another type count as absent.
#[inline(never)]
pub(crate) fn member<T: Lenient>(place: &mut Option<T>, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::lenient(reader)?.ok();
    Ok(())
}

/// As [`member`], for a place whose default stands for what is absent.
#[inline(never)]
pub(crate) fn defaulted_member<T: Lenient + Default>(place: &mut T, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::lenient(reader)?.unwrap_or_default();
    Ok(())
}

/// What was found of a member that an object must have, if anything was.
pub(crate) type Found = Option<Hoped<()>>;

/// As [`member`], and keeps what is wrong with the value.
#[inline(never)]
pub(crate) fn required_member<T: Lenient>(place: &mut T, found: &mut Found, reader: &mut Reader<'_>) -> ReadResult<()> {
    *found = Some(T::lenient(reader)?.map(|value| *place = value));
    Ok(())
}

/// What it means for an object if a member that it must have is absent, or no good.
#[inline]
pub(crate) fn without(key: &str, expected: &str, found: Found) -> Option<Mismatch> {
    if matches!(found, Some(Ok(()))) { None } else { Some(lacks(key, expected, found.and_then(Result::err))) }
}

#[cold]
#[inline(never)]
fn lacks(key: &str, expected: &str, found: Option<Mismatch>) -> Mismatch {
    let reason = match found {
        Some(mismatch) => alloc::format!("`{key}` is {}", mismatch.reason(expected)),
        None => alloc::format!("`{key}` is missing"),
    };
    Mismatch::Object { reason: reason.into(), name: None }
}

impl Lenient for String {
    const EXPECTED: &'static str = "a string";

    #[inline(never)]
    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        match reader.next_byte() {
            Some(b'"') => reader.string().map(|text| Ok(text.into())),
            _ => pass_over(reader).map(Err),
        }
    }
}

impl Lenient for bool {
    const EXPECTED: &'static str = "a boolean";

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        Ok(match reader.raw()? {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Mismatch::Type(type_by(other.as_bytes().first()))),
        })
    }
}

/// Numbers are taken as text: whatever features another crate of the application switches on in `serde_json`, their text
/// stays the same.
impl Lenient for f64 {
    const EXPECTED: &'static str = "a number";

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        let raw = reader.raw()?;
        Ok(match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => {
                raw.parse().ok().filter(|value: &f64| value.is_finite()).ok_or(Mismatch::Type("another number"))
            }
            first => Err(Mismatch::Type(type_by(first))),
        })
    }
}

impl Lenient for u64 {
    const EXPECTED: &'static str = "a whole number";

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        let raw = reader.raw()?;
        Ok(match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => {
                crate::rpc::WireId(raw.as_bytes()).ours().ok_or(Mismatch::Type("another number"))
            }
            first => Err(Mismatch::Type(type_by(first))),
        })
    }
}

/// Any value but `null`, which stands for an absent one.
impl Lenient for Json {
    const EXPECTED: &'static str = "a value";

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        let raw = reader.raw()?;
        Ok(if raw == "null" { Err(Mismatch::Type("null")) } else { Ok(Json::trusted(raw)) })
    }
}

impl<T: Lenient> Lenient for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        Ok(T::lenient(reader)?.map(Box::new))
    }
}

/// A list that leaves out what does not fit. Where the leaving out must be told, [`Listed`](super::Listed) is used.
impl<T: Lenient> Lenient for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn lenient(reader: &mut Reader<'_>) -> ReadResult<Hoped<Self>> {
        if reader.next_byte() != Some(b'[') {
            return pass_over(reader).map(Err);
        }
        let mut list = Vec::new();
        reader.elements(&mut |reader| {
            list.extend(T::lenient(reader)?.ok());
            Ok(())
        })?;
        Ok(Ok(list))
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
