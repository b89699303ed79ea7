//! [`FromJson`]: reads the protocol's types, and tolerates values of the wrong type.
//!
//! The reader skips a value of the wrong type and reports a [`Mismatch`]; the rest of the message can still be read. Correct
//! values cost nothing extra: no error is built, and nothing is read twice. A syntax error fails the whole message.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};

use super::read::{ReadError, Reader, Result as ReadResult};
use super::{Json, float, numeral, transcode};

/// Why a value is not of the expected type.
#[derive(Debug)]
pub(crate) enum Mismatch {
    /// The value has another JSON type, which is named here.
    Type(&'static str),
    /// The object violates a rule of its type. An `Arc`, because its drop glue is compiled once, and every reader of an object
    /// drops a mismatch.
    Object(Arc<ObjectMismatch>),
}

/// Why an object violates a rule of its type.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectMismatch {
    /// What is wrong with the object.
    reason: Cow<'static, str>,
    /// The name of the object, if it has one.
    pub(crate) name: Option<String>,
    /// The key of the member that is to blame, if it is one.
    key: Option<&'static str>,
}

impl Mismatch {
    /// Creates the mismatch of an object that violates a rule.
    pub(crate) fn object(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::named_object(reason, None)
    }

    /// Creates the mismatch of an object with a name, if it has one.
    pub(crate) fn named_object(reason: impl Into<Cow<'static, str>>, name: Option<String>) -> Self {
        Mismatch::Object(Arc::new(ObjectMismatch { reason: reason.into(), name, key: None }))
    }

    /// Creates the mismatch of an object whose member `key` has a value that is not allowed.
    pub(crate) fn member(reason: impl Into<Cow<'static, str>>, key: &'static str) -> Self {
        Mismatch::Object(Arc::new(ObjectMismatch { reason: reason.into(), name: None, key: Some(key) }))
    }

    /// Describes the mismatch of a value that had to be `expected`.
    pub(crate) fn reason(self, expected: &str) -> Cow<'static, str> {
        match self {
            Mismatch::Type(found) => alloc::format!("{found} instead of {expected}").into(),
            Mismatch::Object(object) => Arc::unwrap_or_clone(object).reason,
        }
    }
}

/// A type that a [`Reader`] reads directly, without serde.
pub(crate) trait FromJson: Sized {
    /// The type in words for error messages, such as "a string".
    const EXPECTED: &'static str;

    /// Reads one value. Fails on a syntax error only; a value of another type gives a [`Mismatch`].
    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>>;
}

/// Reads a value and fails if it is not a `T`.
pub(crate) fn strict<T: FromJson>(reader: &mut Reader<'_>) -> ReadResult<T> {
    let start = reader.position();
    T::from_json(reader)?.map_err(|mismatch| mismatch_error(mismatch, T::EXPECTED, reader.since(start), start))
}

/// Reads a `T` from any deserializer of a self-describing format.
pub(crate) fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = transcode::text_of(deserializer)?;
    strict(&mut Reader::new(&text)).map_err(D::Error::custom)
}

/// Implements `serde::Deserialize` for types that implement [`FromJson`].
macro_rules! impl_deserialize {
    ($Type:ident) => {
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::from_json::deserialize(deserializer)
            }
        }
    };
}
pub(crate) use impl_deserialize;

/// Converts a mismatch to an error. `text` is the value that was read, and `start` its byte offset.
#[cold]
#[inline(never)]
fn mismatch_error(mismatch: Mismatch, expected: &str, text: &str, start: usize) -> ReadError {
    let place = match &mismatch {
        Mismatch::Object(object) => object.key.and_then(|key| last_member_end(text, key)),
        Mismatch::Type(_) => None,
    };
    let error = ReadError::new(mismatch.reason(expected));
    match place {
        Some(place) => error.located(start + place),
        None => error,
    }
}

/// Returns the position after the last member called `key` of an object.
fn last_member_end(object: &str, key: &str) -> Option<usize> {
    let mut end = None;
    let mut reader = Reader::new(object);
    reader.next_byte();
    let members = reader.members(&mut |name, reader| {
        reader.skip()?;
        if name == key {
            end = Some(reader.position());
        }
        Ok(())
    });
    members.ok().and(end)
}

/// Reads a `T` from a complete text. Returns `None` if the text is not JSON or the value is not a `T`.
pub(crate) fn from_str<T: FromJson>(text: &str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::from_json(&mut reader).ok()?.ok()?;
    reader.end().ok().map(|()| value)
}

/// Skips a value that is not of the expected type, and returns the mismatch.
pub(crate) fn skip_mismatch(reader: &mut Reader<'_>) -> ReadResult<Mismatch> {
    Ok(type_mismatch(reader.raw()?))
}

/// Returns the mismatch for a value, given as its text.
pub(crate) fn type_mismatch(raw: &str) -> Mismatch {
    Mismatch::Type(type_name(raw))
}

/// Names the JSON type of a value, given as its text.
pub(crate) fn type_name(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Reads a member of an object. `null` and values of another type count as absent.
#[inline(never)]
pub(crate) fn optional_member<T: FromJson>(place: &mut Option<T>, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::from_json(reader)?.ok();
    Ok(())
}

/// Reads a member that has a default. `null` and values of another type give the default.
#[inline(never)]
pub(crate) fn default_member<T: FromJson + Default>(place: &mut T, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::from_json(reader)?.unwrap_or_default();
    Ok(())
}

/// Whether a required member has been read: `None` before it is found, then whether its value was of the expected type.
pub(crate) type RequiredMember = Option<Result<(), Mismatch>>;

/// Reads a member that an object must have.
#[inline(never)]
pub(crate) fn required_member<T: FromJson>(
    place: &mut T,
    member: &mut RequiredMember,
    reader: &mut Reader<'_>,
) -> ReadResult<()> {
    *member = Some(T::from_json(reader)?.map(|value| *place = value));
    Ok(())
}

/// Returns why an object is rejected if its required member `key` is absent or not of the expected type.
#[inline]
pub(crate) fn check_required(key: &str, expected: &str, member: RequiredMember) -> Option<Mismatch> {
    if matches!(member, Some(Ok(()))) {
        None
    } else {
        Some(missing_member(key, expected, member.and_then(Result::err)))
    }
}

#[cold]
#[inline(never)]
fn missing_member(key: &str, expected: &str, found: Option<Mismatch>) -> Mismatch {
    let reason = match found {
        Some(mismatch) => alloc::format!("`{key}` is {}", mismatch.reason(expected)),
        None => alloc::format!("`{key}` is missing"),
    };
    Mismatch::object(reason)
}

impl FromJson for String {
    const EXPECTED: &'static str = "a string";

    #[inline(never)]
    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        match reader.next_byte() {
            Some(b'"') => reader.string().map(|text| Ok(text.into())),
            _ => skip_mismatch(reader).map(Err),
        }
    }
}

impl FromJson for bool {
    const EXPECTED: &'static str = "a boolean";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        Ok(match reader.raw()? {
            "true" => Ok(true),
            "false" => Ok(false),
            raw => Err(type_mismatch(raw)),
        })
    }
}

/// Parsed without `serde_json`, whose cargo features may change how it reads numbers.
impl FromJson for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        if !numeral::is_number(raw) {
            return Ok(Err(type_mismatch(raw)));
        }
        Ok(float::parse(raw).ok_or(Mismatch::Type("another number")))
    }
}

impl FromJson for u64 {
    const EXPECTED: &'static str = "a whole number";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        if !numeral::is_number(raw) {
            return Ok(Err(type_mismatch(raw)));
        }
        Ok(numeral::parse_unsigned(raw.as_bytes()).ok_or(Mismatch::Type("another number")))
    }
}

/// Reads any value except `null`, which counts as absent.
impl FromJson for Json {
    const EXPECTED: &'static str = "a value";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        Ok(if raw == "null" { Err(Mismatch::Type("null")) } else { Ok(Json::trusted(raw)) })
    }
}

impl<T: FromJson> FromJson for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        Ok(T::from_json(reader)?.map(Box::new))
    }
}

/// Skips elements that are not a `T`. [`ItemList`](crate::ItemList) also reports them.
impl<T: FromJson> FromJson for Vec<T> {
    const EXPECTED: &'static str = "an array";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'[') {
            return skip_mismatch(reader).map(Err);
        }
        let mut list = Vec::new();
        reader.elements(&mut |reader| {
            list.extend(T::from_json(reader)?.ok());
            Ok(())
        })?;
        Ok(Ok(list))
    }
}
