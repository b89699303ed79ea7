//! The one pass over a message that builds something: straight into the type that was asked for.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::UnitDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use super::peek::{usual_end, usual_start};
use super::{PeerError, RpcError, WireId};
use crate::json::read::Reader;
use crate::json::{Json, RawText};

/// A response, read.
#[derive(Debug)]
pub(crate) enum Answer<R> {
    Result(R),
    Error(RpcError),
}

/// Reads the response to our request `id`, its result as an `R`.
pub(crate) fn answer<'de, R: Deserialize<'de>>(message: &'de [u8], id: u64) -> Result<Answer<R>, PeerError> {
    let text = utf8(message)?;
    // Most messages are built in one of two ways, and then the result is all that is left to read. Whatever does not fit
    // is read again as a whole, which then says what is wrong.
    let ours = |found: &[u8]| WireId(found).ours() == Some(id);
    if let Some((_, start)) = usual_start(message).filter(|(found, _)| ours(found)) {
        let mut reader = Reader::within(text, start);
        if let (Ok(result), true) = (R::deserialize(&mut reader), reader.closes()) {
            return Ok(Answer::Result(result));
        }
    } else if let Some((_, range)) = usual_end(message).filter(|(found, _)| ours(found)) {
        let mut reader = Reader::within(text, range.start);
        if let (Ok(result), true) = (R::deserialize(&mut reader), reader.is_at(range.end)) {
            return Ok(Answer::Result(result));
        }
    }
    let mut reader = Reader::new(text);
    ResponseSeed { id: Some(id), result: PhantomData }
        .deserialize(&mut reader)
        .and_then(|answer| reader.end().map(|()| answer))
        .map_err(|error| PeerError::from_read(&reader.locate(error), message))
}

/// Reads an error response that names no request.
pub(crate) fn orphan_error(message: &[u8]) -> Option<RpcError> {
    let mut reader = Reader::new(core::str::from_utf8(message).ok()?);
    match (ResponseSeed::<IgnoredAny> { id: None, result: PhantomData }).deserialize(&mut reader) {
        Ok(Answer::Error(error)) => Some(error),
        _ => None,
    }
}

/// Reads the `params` of a notification or request; absent ones as `null`.
pub(crate) fn params<'de, P: Deserialize<'de>>(message: &'de [u8]) -> Result<P, PeerError> {
    let text = utf8(message)?;
    let mut reader = Reader::new(text);
    reader
        .deserialize_map(ParamsVisitor(PhantomData))
        .and_then(|params| reader.end().map(|()| params))
        .map_err(|error| PeerError::from_read(&reader.locate(error), message))
}

fn utf8(message: &[u8]) -> Result<&str, PeerError> {
    core::str::from_utf8(message).map_err(|error| PeerError::not_utf8(message, error.valid_up_to()))
}

/// The keys of an envelope.
enum Key {
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(match key {
                    "id" => Key::Id,
                    "method" => Key::Method,
                    "params" => Key::Params,
                    "result" => Key::Result,
                    "error" => Key::Error,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct ResponseSeed<R> {
    /// The id that the message must carry, if one is known.
    id: Option<u64>,
    result: PhantomData<R>,
}

impl<'de, R: Deserialize<'de>> DeserializeSeed<'de> for ResponseSeed<R> {
    type Value = Answer<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Answer<R>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// A `result` as far as it has been read.
enum Slot<R> {
    Absent,
    /// Kept until it is known that no error comes with it: servers of JSON-RPC 1.0 habit send both.
    Null,
    Is(R),
}

impl<'de, R: Deserialize<'de>> Visitor<'de> for ResponseSeed<R> {
    type Value = Answer<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC response")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Answer<R>, A::Error> {
        let mut id = None;
        let mut result = Slot::Absent;
        let mut error: Option<&'de str> = None;
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Id if id.is_some() => return Err(A::Error::custom("`id` stands there twice")),
                Key::Id => {
                    let RawText(raw) = map.next_value()?;
                    id = Some(WireId(raw.as_bytes()));
                }
                Key::Result if !matches!(result, Slot::Absent) => {
                    return Err(A::Error::custom("`result` stands there twice"));
                }
                Key::Result => result = map.next_value::<Option<R>>()?.map_or(Slot::Null, Slot::Is),
                Key::Error if error.is_some() => return Err(A::Error::custom("`error` stands there twice")),
                Key::Error => error = Some(map.next_value::<RawText<'de>>()?.0),
                Key::Method | Key::Params | Key::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Some(expected) = self.id
            && id.and_then(WireId::ours) != Some(expected)
        {
            return Err(A::Error::custom("the id is not that of the request"));
        }
        match (result, error.filter(|raw| *raw != "null")) {
            (Slot::Is(_), Some(_)) => Err(A::Error::custom("both a `result` and an `error`")),
            (_, Some(raw)) => rpc_error(raw).map(Answer::Error).map_err(A::Error::custom),
            (Slot::Is(result), None) => Ok(Answer::Result(result)),
            (Slot::Null, None) => R::deserialize(UnitDeserializer::<A::Error>::new())
                .map(Answer::Result)
                .map_err(|_| A::Error::custom("`result` is null")),
            (Slot::Absent, None) => Err(A::Error::custom("neither a `result` nor an `error`")),
        }
    }
}

/// Reads an error object, as far as it is one: the code and the message may be missing, or of another type.
fn rpc_error(text: &str) -> Result<RpcError, &'static str> {
    match text.as_bytes().first() {
        Some(b'{') => {}
        Some(b'"') => return Ok(RpcError { code: 0, message: string(text.as_bytes()).into_owned(), data: None }),
        _ => return Err("`error` is not an object"),
    }
    let mut error = RpcError { code: 0, message: alloc::string::String::new(), data: None };
    for member in crate::json::scan::members(text.as_bytes()) {
        if member.is("code") {
            error.code = code(member.value);
        } else if member.is("message") && member.value != b"null" {
            error.message = string(member.value).into_owned();
        } else if member.is("data") && member.value != b"null" {
            error.data = core::str::from_utf8(member.value).ok().map(Json::trusted);
        }
    }
    Ok(error)
}

fn string(raw: &[u8]) -> Cow<'_, str> {
    match raw {
        [b'"', inner @ .., b'"'] => crate::json::scan::key_text(inner),
        other => alloc::string::String::from_utf8_lossy(other),
    }
}

/// The code as a whole number, also where it was sent as `-32601.0` or as a string.
fn code(raw: &[u8]) -> i64 {
    let (negative, digits) = match raw {
        [b'"', b'-', rest @ ..] | [b'-', rest @ ..] => (true, rest),
        [b'"', rest @ ..] | rest => (false, rest),
    };
    let digits = digits.strip_suffix(b"\"").unwrap_or(digits);
    let magnitude = WireId(digits).ours().and_then(|value| i64::try_from(value).ok()).unwrap_or(0);
    if negative { -magnitude } else { magnitude }
}

struct ParamsVisitor<P>(PhantomData<P>);

impl<'de, P: Deserialize<'de>> Visitor<'de> for ParamsVisitor<P> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC notification")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<P, A::Error> {
        let mut params = None;
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Params => params = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match params {
            Some(params) => Ok(params),
            None => P::deserialize(UnitDeserializer::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::*;

    fn read(text: &str) -> Result<Answer<Json>, PeerError> {
        answer::<Json>(text.as_bytes(), 1)
    }

    #[test]
    fn an_array_is_no_envelope() {
        assert!(read(r#"["2.0",1,{}]"#).is_err());
    }

    #[test]
    fn null_results_and_null_errors() {
        assert!(matches!(read(r#"{"id":1,"result":{},"error":null}"#), Ok(Answer::Result(_))));
        assert!(matches!(read(r#"{"id":1,"result":null,"error":{"code":-1}}"#), Ok(Answer::Error(e)) if e.code == -1));
    }

    #[test]
    fn errors_are_read_as_far_as_they_go() {
        for (text, code, message) in [
            (r#"{"code":-32601,"message":"no \u0061"}"#, -32601, "no a"),
            (r#"{"code":-32601.0}"#, -32601, ""),
            (r#"{"code":"-5","message":null}"#, -5, ""),
            (r#"{"message":{"a":1}}"#, 0, r#"{"a":1}"#),
            (r#""went wrong""#, 0, "went wrong"),
        ] {
            let Ok(Answer::Error(error)) = read(&alloc::format!(r#"{{"id":1,"error":{text}}}"#)) else {
                panic!("{text}")
            };
            assert_eq!((error.code, error.message.as_str()), (code, message));
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, says) in [
            (r#"{"id":1}"#, "neither"),
            (r#"{"id":1,"result":{},"error":{"code":1}}"#, "both"),
            (r#"{"id":1,"result":{},"result":{}}"#, "twice"),
            (r#"{"id":1,"result":{"a":[1,}}"#, "at `result.a[1]`"),
            (r#"{"id":2,"result":{}}"#, "the id is not"),
            (r#"{"id":1,"error":5}"#, "not an object"),
            (r#"{"id":1,"result":{}} x"#, "more text"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let error = answer::<Json>(b"{\"id\":1,\"result\":{\"text\":\"\xff\"}}", 1).unwrap_err();
        assert_eq!(error.to_string().split(',').next(), Some("not UTF-8 at `result.text`"));
    }

    #[test]
    fn depth_beyond_the_limit_fails_this_message_only() {
        let deep = alloc::format!(r#"{{"id":1,"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(answer::<serde_json::Value>(deep.as_bytes(), 1).is_err());
        assert!(answer::<Json>(deep.as_bytes(), 1).is_err());
    }

    #[test]
    fn a_private_key_of_the_json_library_is_only_text() {
        let Ok(Answer::Result(json)) = read(r#"{"id":1,"result":{"$serde_json::private::RawValue":"{"}}"#) else {
            panic!()
        };
        assert_eq!(json.get(), r#"{"$serde_json::private::RawValue":"{"}"#);
    }

    #[test]
    fn absent_params_are_null() {
        assert_eq!(params::<Option<Json>>(br#"{"method":"x"}"#), Ok(None));
        assert_eq!(
            params::<Json>(br#"{"params":{"a":1},"method":"x"}"#).map(|p| String::from(p.get())),
            Ok(r#"{"a":1}"#.into())
        );
    }
}
