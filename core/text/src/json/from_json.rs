//! [`FromJson`]: reads the protocol's types, and tolerates values of the wrong type.
//!
//! The reader skips a value of the wrong type and reports a [`Mismatch`]; the rest of the message can still be read.
//! Valid values cost nothing extra: no error is built, and no byte is read twice. A syntax error fails the whole
//! message.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::de::{Deserializer, Error as _};

use super::read::{ReadError, Reader, Result as ReadResult};
use super::{Json, JsonText, numeral, transcode};

/// Why a JSON value is not of the expected type.
#[derive(Debug)]
pub enum Mismatch {
    /// The value has the wrong JSON type. The text names the type that was found, such as "an array".
    Type(&'static str),
    /// The value is an object, but not a valid one for the expected type: for example, a required member is missing.
    Object(Box<ObjectMismatch>),
}

/// Why a JSON object is not a valid value of the expected type.
#[derive(Debug)]
pub struct ObjectMismatch {
    reason: Cow<'static, str>,
    /// Name of the tool, resource or other item that the JSON object describes. `None` if unknown.
    pub name: Option<String>,
    /// Key of the object member whose value is invalid. `None` if no such member is known.
    key: Option<&'static str>,
}

impl Mismatch {
    /// Creates the [`Mismatch`] for a JSON object that is not a valid value of the expected type. `reason` says why, as
    /// text for an error message.
    pub fn object(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::named_object(reason, None)
    }

    /// Creates the [`Mismatch`] for an invalid JSON object. `name` is the name of the tool, resource or other item that
    /// the object describes, if known.
    pub fn named_object(reason: impl Into<Cow<'static, str>>, name: Option<String>) -> Self {
        Mismatch::Object(Box::new(ObjectMismatch { reason: reason.into(), name, key: None }))
    }

    /// Creates the [`Mismatch`] for a JSON object whose member `key` has an invalid value. `reason` says what is wrong
    /// with the value.
    pub fn member(reason: impl Into<Cow<'static, str>>, key: &'static str) -> Self {
        Mismatch::Object(Box::new(ObjectMismatch { reason: reason.into(), name: None, key: Some(key) }))
    }

    /// Returns why the value is not of the expected type, as text for an error message. `expected` names this type,
    /// such as "a string".
    pub fn reason(self, expected: &str) -> Cow<'static, str> {
        match self {
            Mismatch::Type(found) => alloc::format!("{found} instead of {expected}").into(),
            Mismatch::Object(object) => object.reason,
        }
    }
}

/// A type that a [`Reader`] reads directly, without serde.
pub trait FromJson: Sized {
    /// The name of the expected JSON type in error messages, such as "a string".
    const EXPECTED: &'static str;

    /// Reads the next value from `reader`.
    ///
    /// Returns `Err` for a syntax error. Returns `Ok(Err(mismatch))` if the value is valid JSON, but not a value of
    /// this type.
    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>>;
}

/// Reads a `T` from JSON text. Returns an error if the text is malformed, and also if the value is not a `T`.
pub fn strict<T: FromJson>(reader: &mut Reader<'_>) -> ReadResult<T> {
    let start = reader.position();
    T::from_json(reader)?.map_err(|mismatch| mismatch_error(mismatch, T::EXPECTED, reader.since(start), start))
}

/// Deserializes a `T` from any self-describing serde format: converts the value to JSON text, and reads the `T` from
/// the text.
pub fn deserialize<'de, T: FromJson, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = transcode::text_of(deserializer)?;
    strict(&mut Reader::new(&text)).map_err(D::Error::custom)
}

/// Implements `serde::Deserialize` for a type that implements [`FromJson`].
#[macro_export]
macro_rules! impl_deserialize {
    ($Type:ident) => {
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::from_json::deserialize(deserializer)
            }
        }
    };
}

/// Converts the mismatch of a JSON value to a [`ReadError`]. `expected` names the expected type, `text` is the JSON
/// text of the value, and `start` is the byte offset of this text in the message.
#[cold]
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

/// Returns the byte offset at which the last member with the key `key` ends, or `None` if `object` has no such member.
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

/// Reads a `T` from JSON text. Returns `None` if the text is not exactly one JSON value, or if the value is not a
/// `T`.
pub fn from_str<T: FromJson>(text: &str) -> Option<T> {
    let mut reader = Reader::new(text);
    let value = T::from_json(&mut reader).ok()?.ok()?;
    reader.end().ok().map(|()| value)
}

/// Skips the next value, which has the wrong JSON type, and returns the [`Mismatch`] that names its type. Returns an
/// error if the value is not valid JSON.
#[cold]
pub fn skip_mismatch(reader: &mut Reader<'_>) -> ReadResult<Mismatch> {
    Ok(Mismatch::Type(type_name(reader.raw()?)))
}

/// Returns the name of a value's JSON type for error messages, such as "an array". `raw` is the JSON text of the
/// value.
#[cold]
pub fn type_name(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Reads the value of an optional member, and stores it in `place`. Stores `None` if the value is `null` or not a `T`.
pub fn optional_member<T: FromJson>(place: &mut Option<T>, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::from_json(reader)?.ok();
    Ok(())
}

/// Reads the value of `resultType` into `place`. Keeps the JSON text of a value that is no string, which is the name of
/// no type, so that the result is rejected. Stores `None` for `null`.
pub fn result_type_member(place: &mut Option<String>, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = match reader.next_byte() {
        Some(b'"') => Some(reader.string()?.into()),
        _ => Some(reader.raw()?).filter(|raw| *raw != "null").map(String::from),
    };
    Ok(())
}

/// Reads the value of an object member into `place`. Stores the default value of `T` if the value is not a `T`, for
/// example if it is `null`.
pub fn default_member<T: FromJson + Default>(place: &mut T, reader: &mut Reader<'_>) -> ReadResult<()> {
    *place = T::from_json(reader)?.unwrap_or_default();
    Ok(())
}

/// The state of a required member while its object is read: `None` before the member is found, then `Some(Ok(()))` if
/// its value is valid, or `Some(Err(mismatch))` if its value has the wrong type.
pub type RequiredMember = Option<Result<(), Mismatch>>;

/// Reads the value of a required object member into `place`, and records in `member` whether the value is a `T`. A
/// value that is not a `T` leaves `place` unchanged.
pub fn required_member<T: FromJson>(
    place: &mut T,
    member: &mut RequiredMember,
    reader: &mut Reader<'_>,
) -> ReadResult<()> {
    *member = Some(T::from_json(reader)?.map(|value| *place = value));
    Ok(())
}

/// Checks that an object contained the required member `key` with a valid value. Returns `None` if it did, and
/// otherwise the [`Mismatch`] of the object. `expected` names the expected type of the value.
pub fn check_required(key: &str, expected: &str, member: RequiredMember) -> Option<Mismatch> {
    let reason = match member {
        Some(Ok(())) => return None,
        Some(Err(mismatch)) => alloc::format!("`{key}` is {}", mismatch.reason(expected)),
        None => alloc::format!("`{key}` is missing"),
    };
    Some(Mismatch::object(reason))
}

impl FromJson for String {
    const EXPECTED: &'static str = "a string";

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
        match reader.next_byte() {
            Some(b't') => reader.literal("true").map(|()| Ok(true)),
            Some(b'f') => reader.literal("false").map(|()| Ok(false)),
            _ => skip_mismatch(reader).map(Err),
        }
    }
}

/// Parses the number with the standard library, because `serde_json` parses floats differently depending on its cargo
/// features.
impl FromJson for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        number(reader, numeral::parse_finite)
    }
}

impl FromJson for u64 {
    const EXPECTED: &'static str = "a whole number";

    fn from_json(reader: &mut Reader<'_>) -> ReadResult<Result<Self, Mismatch>> {
        number(reader, |raw| numeral::parse_whole(raw.as_bytes()))
    }
}

/// Reads a number with `parse`, which returns `None` for a number that is not a `T`.
pub(super) fn number<T>(
    reader: &mut Reader<'_>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> ReadResult<Result<T, Mismatch>> {
    let raw = reader.raw()?;
    Ok(if numeral::is_number(raw) {
        parse(raw).ok_or(Mismatch::Type("another number"))
    } else {
        Err(Mismatch::Type(type_name(raw)))
    })
}

/// Reads any JSON value except `null`, so that an optional member with the value `null` counts as absent.
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

/// Reads an array, and skips elements that are not a `T`. [`ItemList`](super::ItemList) also reports the skipped
/// elements.
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
