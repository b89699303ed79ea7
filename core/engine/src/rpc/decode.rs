//! Decodes whole messages of the server in one pass, directly into the requested type. [`RequestFault`]: why there is no
//! result.

use super::received::usual_notification;
use super::{PeerError, Response, RpcError, WireId, peer_error};
#[cfg(feature = "http")]
use crate::transport_error::HttpError;
use mcpwire_text::json::from_json::{FromJson, Mismatch, strict};
use mcpwire_text::json::read::{self, ReadError, ReadPart, Reader};

/// Why a request got no usable answer.
///
/// The transport or the decoder creates this error. The code that sent the request converts it to a public error, such
/// as [`CallError`](crate::CallError).
#[derive(Clone, Debug)]
pub(crate) enum RequestFault {
    /// The server answered with a JSON-RPC error, which may have arrived in an HTTP error response without the id of
    /// the request.
    Server(RpcError),
    /// The server's response is malformed: it is not valid JSON-RPC, contains a value of the wrong type, or is too
    /// long.
    Invalid(PeerError),
    /// The HTTP exchange of the request failed, or ended without a JSON-RPC response.
    #[cfg(feature = "http")]
    Http(HttpError),
}

/// Decodes a response of the server, and returns the result as an `R`.
pub(crate) fn answer<R: FromJson>(message: &[u8], response: Response) -> Result<R, RequestFault> {
    answer_with(message, response, strict::<R>)
}

/// Checks a response of the server, without decoding the result.
pub(crate) fn answer_skipped(message: &[u8], response: Response) -> Result<(), RequestFault> {
    answer_with(message, response, Reader::skip)
}

/// Returns what the function `read` decodes from the `result` of the server's response. Fails if the response is an
/// error.
pub(crate) fn answer_with<'de, R>(
    message: &'de [u8],
    response: Response,
    read: impl Fn(&mut Reader<'de>) -> read::Result<R>,
) -> Result<R, RequestFault> {
    let text = core::str::from_utf8(message)
        .map_err(|error| RequestFault::Invalid(peer_error::not_utf8(message, error.valid_up_to())))?;
    if let Some(start) = response.usual_result() {
        let mut reader = Reader::within_object(text, start);
        if let Ok(result) = read(&mut reader)
            && reader.ends_object()
        {
            return Ok(result);
        }
        // Reading the whole message finds the error.
    }
    let mut result = None;
    let mut reader = Reader::new(text);
    let envelope = Envelope::read(&mut reader, Some(response.id), &mut |reader: &mut Reader<'de>| {
        result = Some(read(reader)?);
        Ok(())
    });
    match (envelope.and_then(|error| reader.end().map(|()| error)), result) {
        (Ok(None), Some(result)) => Ok(result),
        (Ok(error), _) => Err(RequestFault::Server(error.unwrap_or_else(|| RpcError::new(0, "")))),
        (Err(error), _) => Err(RequestFault::Invalid(peer_error::from_read(&reader.locate(error), message))),
    }
}

/// Decodes the `params` of a JSON-RPC notification or request. Absent `params` count as `null`.
///
/// Returns `None` if the message is not a valid JSON object, and `Some(Err(_))` if its `params` do not match the type
/// `P`.
pub(crate) fn params<P: FromJson>(message: &[u8]) -> Option<Result<P, Mismatch>> {
    let text = core::str::from_utf8(message).ok()?;
    if let Some((_, start)) = usual_notification(message) {
        let mut reader = Reader::within_object(text, start);
        if let Ok(params) = P::from_json(&mut reader)
            && reader.ends_object()
        {
            return Some(params);
        }
    }
    let mut reader = Reader::new(text);
    let mut params = Err(Mismatch::Type("null"));
    let members = object(&mut reader).ok()?.members(&mut |key, reader| {
        match key {
            "params" => params = P::from_json(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    });
    members.and_then(|()| reader.end()).ok()?;
    Some(params)
}

/// Returns the error of an error response without an id, or `None` if the message is malformed or contains no error.
pub(crate) fn orphan_error(message: &[u8]) -> Option<RpcError> {
    let mut reader = Reader::new(core::str::from_utf8(message).ok()?);
    Envelope::read(&mut reader, None, &mut |reader: &mut Reader<'_>| reader.skip()).ok()?
}

/// Returns `reader` if its next value is an object, and otherwise an error.
fn object<'r, 'de>(reader: &'r mut Reader<'de>) -> read::Result<&'r mut Reader<'de>> {
    match reader.next_byte() {
        Some(b'{') => Ok(reader),
        _ => Err(ReadError::new("not an object")),
    }
}

#[derive(Default)]
struct Envelope<'de> {
    id: Option<WireId<'de>>,
    result: ResultMember,
    /// The JSON text of the member `error`.
    error: Option<&'de str>,
}

#[derive(Default, PartialEq, Eq)]
enum ResultMember {
    #[default]
    Absent,
    /// The member `result` is `null`. It counts as a result only if there is no `error`, because some servers send
    /// both, as in JSON-RPC 1.0.
    Null,
    Read,
}

impl<'de> Envelope<'de> {
    /// Returns the JSON-RPC error of the response, or `None` if the response contains a result. If `id` is `None`, the
    /// response may have any id.
    fn read(reader: &mut Reader<'de>, id: Option<u64>, result: ReadPart<'_, 'de>) -> read::Result<Option<RpcError>> {
        let mut envelope = Envelope::default();
        object(reader)?.members(&mut |key, reader| envelope.member(key, reader, result))?;
        if id.is_some() && envelope.id.and_then(WireId::number) != id {
            return Err(ReadError::new("the id is not that of the request"));
        }
        match (envelope.result, envelope.error.filter(|raw| *raw != "null")) {
            (ResultMember::Read, Some(_)) => Err(ReadError::new("both a `result` and an `error`")),
            (_, Some(raw)) => rpc_error(raw).map(Some),
            (ResultMember::Read, None) => Ok(None),
            (ResultMember::Null, None) => match result(&mut Reader::new("null")) {
                Ok(()) => Ok(None),
                Err(_) => Err(ReadError::new("`result` is null")),
            },
            (ResultMember::Absent, None) => Err(ReadError::new("neither a `result` nor an `error`")),
        }
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'de>, result: ReadPart<'_, 'de>) -> read::Result<()> {
        let twice = |key: &str| Err(ReadError::new(alloc::format!("`{key}` stands there twice")));
        match key {
            "id" if self.id.is_some() => return twice(key),
            "id" => self.id = Some(WireId(reader.raw()?.as_bytes())),
            "result" if self.result != ResultMember::Absent => return twice(key),
            "result" if reader.next_byte() == Some(b'n') => {
                reader.literal("null")?;
                self.result = ResultMember::Null;
            }
            "result" => {
                result(reader)?;
                self.result = ResultMember::Read;
            }
            "error" if self.error.is_some() => return twice(key),
            "error" => self.error = Some(reader.raw()?),
            _ => reader.skip()?,
        }
        Ok(())
    }
}

/// Reads the value of the member `error`.
fn rpc_error(raw: &str) -> read::Result<RpcError> {
    RpcError::from_json(&mut Reader::new(raw))?.map_err(|_| ReadError::new("`error` is not an object"))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use mcpwire_text::json::{Json, JsonText};

    use super::*;
    use crate::rpc::Received;

    /// Classifies a message as the response to request 1, whatever its id is.
    fn response(message: &[u8]) -> Response {
        let mut found = Received::new(message).response().unwrap_or(Response::of_client(None));
        found.id = 1;
        found
    }

    fn read(text: &str) -> Result<Json, RequestFault> {
        answer_with(text.as_bytes(), response(text.as_bytes()), |reader| reader.raw().map(Json::trusted))
    }

    fn invalid(response: Result<Json, RequestFault>) -> PeerError {
        let Err(RequestFault::Invalid(error)) = response else { panic!("{response:?}") };
        error
    }

    #[test]
    fn an_array_is_no_envelope() {
        assert!(read(r#"["2.0",1,{}]"#).is_err());
    }

    #[test]
    fn null_results_and_null_errors() {
        assert!(read(r#"{"id":1,"result":{},"error":null}"#).is_ok());
        assert!(
            matches!(read(r#"{"id":1,"result":null,"error":{"code":-1}}"#), Err(RequestFault::Server(e)) if e.code == -1)
        );
    }

    #[test]
    fn errors_are_read_as_far_as_they_go() {
        for (text, code, message) in [
            (r#"{"code":-32601,"message":"no \u0061"}"#, -32601, "no a"),
            (r#"{"code":-32601.0}"#, -32601, ""),
            (r#"{"code":"-5","message":null}"#, -5, ""),
            (r#"{"code":"\u002d5.0"}"#, -5, ""),
            (r#"{"code":"\"5\""}"#, 0, ""),
            (r#"{"message":{"a":1}}"#, 0, r#"{"a":1}"#),
            (r#""went wrong""#, 0, "went wrong"),
        ] {
            let Err(RequestFault::Server(error)) = read(&alloc::format!(r#"{{"id":1,"error":{text}}}"#)) else {
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
            let error = invalid(read(text)).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let message = b"{\"id\":1,\"result\":{\"text\":\"\xff\"}}";
        let error = invalid(answer(message, response(message)));
        assert_eq!(error.to_string().split(',').next(), Some("not UTF-8 at `result.text`"));
    }

    #[test]
    fn depth_beyond_the_limit_fails_this_message_only() {
        let deep = alloc::format!(r#"{{"id":1,"result":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        assert!(answer::<Json>(deep.as_bytes(), response(deep.as_bytes())).is_err());
    }

    #[test]
    fn a_private_key_of_the_json_library_is_only_text() {
        let Ok(json) = read(r#"{"id":1,"result":{"$serde_json::private::RawValue":"{"}}"#) else { panic!() };
        assert_eq!(json.get(), r#"{"$serde_json::private::RawValue":"{"}"#);
    }

    #[test]
    fn absent_params_are_null() {
        assert!(matches!(params::<Json>(br#"{"method":"x"}"#), Some(Err(Mismatch::Type("null")))));
        let read = params::<Json>(br#"{"params":{"a":1},"method":"x"}"#);
        assert!(matches!(read, Some(Ok(json)) if json.get() == r#"{"a":1}"#));
        assert!(params::<Json>(br#"{"params":{"a":1},"method":}"#).is_none());
    }

    #[test]
    fn params_in_the_usual_place_are_read_as_strictly_as_elsewhere() {
        let text = |params: &str| alloc::format!(r#"{{"jsonrpc":"2.0","method":"x","params":{params}}}"#);
        let read = |value: &str| params::<Json>(text(value).as_bytes());
        assert!(matches!(read(r#"{"a":1}"#), Some(Ok(json)) if json.get() == r#"{"a":1}"#));
        // The last of several members with the same key counts.
        assert!(matches!(read(r#"1,"params":2"#), Some(Ok(json)) if json.get() == "2"));
        for malformed in ["", "{", "{]", r#"{"a":1}}"#, r#"1,"b":"#, r#"1,"id":01"#] {
            assert!(read(malformed).is_none(), "{malformed}");
        }
        assert!(params::<Json>(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":1,\"b\":\"\xff\"}").is_none());
    }
}
