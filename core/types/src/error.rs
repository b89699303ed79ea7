//! [`RpcError`]: an error that the server or the client reports.

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::ElicitUrl;
use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::scan::{integer, text};
use mcpwire_text::json::{Json, JsonError, JsonText, is_write_error};
use mcpwire_text::{excerpt, printable};

/// A JSON-RPC error object (JSON-RPC 2.0, section 5.1), which the server or the client sends instead of a result.
///
/// The associated constants are the error codes of JSON-RPC and MCP; a server may also use other codes. `Display` shows
/// at most 4 KiB of `message` and 200 bytes of `data`, without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", shown_message(message, *code), shown_data(data.as_ref()))]
#[non_exhaustive]
#[doc(alias = "JSONRPCErrorResponse")]
pub struct RpcError {
    /// The error code, such as [`RpcError::METHOD_NOT_FOUND`]; 0 if the error response contains no integer code.
    pub code: i64,
    /// A description of the error; empty if the server sent none.
    pub message: String,
    /// Additional information about the error, in a format that its sender chooses. `None` if absent or `null`.
    pub data: Option<Json>,
}

impl RpcError {
    /// JSON-RPC error code: the message is not valid JSON.
    #[doc(alias = "ParseError")]
    pub const PARSE_ERROR: i64 = -32700;
    /// JSON-RPC error code: the message is not a valid request.
    #[doc(alias = "InvalidRequestError")]
    pub const INVALID_REQUEST: i64 = -32600;
    /// JSON-RPC error code: the method does not exist or is not available.
    #[doc(alias = "MethodNotFoundError")]
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// JSON-RPC error code: the parameters are invalid, or the named tool, prompt or resource does not exist.
    #[doc(alias = "InvalidParamsError")]
    pub const INVALID_PARAMS: i64 = -32602;
    /// JSON-RPC error code: an internal error of the side that handles the request.
    #[doc(alias = "InternalError")]
    pub const INTERNAL_ERROR: i64 = -32603;
    /// Error code of `resources/read`: the resource does not exist. Protocol revisions after 2025-11-25 use
    /// [`RpcError::INVALID_PARAMS`] instead.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// MCP error code: an HTTP header contradicts the request body (from protocol revision 2026-07-28).
    #[doc(alias = "HeaderMismatchError")]
    pub const HEADER_MISMATCH: i64 = -32020;
    /// MCP error code: the request requires a capability that the client did not declare (from protocol revision
    /// 2026-07-28).
    #[doc(alias = "MissingRequiredClientCapabilityError")]
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// MCP error code: the server does not support the protocol version of the request (from protocol revision
    /// 2026-07-28).
    #[doc(alias = "UnsupportedProtocolVersionError")]
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

    /// MCP error code: the user must visit a URL before the request can succeed (protocol revision 2025-11-25). See
    /// [`RpcError::required_elicitations`].
    #[doc(alias = "URLElicitationRequiredError")]
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// Error code with which a client answers `sampling/createMessage` if the user rejected the request.
    pub const USER_REJECTED: i64 = -1;

    /// Creates a JSON-RPC error object from a code and a message, without additional data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    /// Returns the URLs that the user must visit before the failed request can succeed (protocol revision 2025-11-25,
    /// client/elicitation, "URL Elicitation Required Error").
    ///
    /// The list is empty if the code is not [`RpcError::URL_ELICITATION_REQUIRED`], or if the data of the error
    /// contains no valid `elicitations` array.
    pub fn required_elicitations(&self) -> Vec<ElicitUrl> {
        if self.code != RpcError::URL_ELICITATION_REQUIRED {
            return Vec::new();
        }
        let list = self.data.as_ref().and_then(|data| data.member_text("elicitations"));
        list.and_then(from_json::from_str).unwrap_or_default()
    }
}

impl FromJson for RpcError {
    const EXPECTED: &'static str = "an object";

    /// Tolerates an object whose `code` or `message` is absent or of the wrong type, and a string, which becomes the
    /// message.
    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut error = RpcError::new(0, "");
        match reader.next_byte() {
            Some(b'{') => reader.members(&mut |key, reader| {
                match (key, reader.raw()?) {
                    ("code", raw) => error.code = integer(raw.as_bytes()).unwrap_or(0),
                    ("message" | "data", "null") => {}
                    ("message", raw) => error.message = message(raw),
                    ("data", raw) => error.data = Some(Json::trusted(raw)),
                    _ => {}
                }
                Ok(())
            })?,
            Some(b'"') => error.message = message(reader.raw()?),
            _ => return from_json::skip_mismatch(reader).map(Err),
        }
        Ok(Ok(error))
    }
}

mcpwire_text::impl_deserialize!(RpcError);

// Derived, it would be an array in formats that write structs as arrays.
impl Serialize for RpcError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("code", &self.code)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        map.end()
    }
}

fn message(raw: &str) -> String {
    text(raw.as_bytes()).unwrap_or_else(|| raw.into())
}

impl From<JsonError> for RpcError {
    /// Creates the error with which a client refuses a request of the server, so that handlers can use `?`.
    ///
    /// The code is [`RpcError::INVALID_PARAMS`] if text could not be read, because handlers read the parameters of the
    /// request. It is [`RpcError::INTERNAL_ERROR`] if a value could not be serialized, such as the handler's answer.
    fn from(error: JsonError) -> Self {
        let code = if is_write_error(&error) { RpcError::INTERNAL_ERROR } else { RpcError::INVALID_PARAMS };
        RpcError::new(code, alloc::format!("{error}"))
    }
}

/// Maximum number of bytes of [`RpcError::message`] that `Display` shows: 4 KiB, enough for a stack trace.
const MAX_SHOWN: usize = 4 * 1024;

fn shown_message(message: &str, code: i64) -> String {
    if message.is_empty() {
        return alloc::format!("error {code} without a message");
    }
    let cut = (0..=MAX_SHOWN.min(message.len())).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
    let ellipsis = if cut < message.len() { "…" } else { "" };
    alloc::format!("{}{ellipsis} (code {code})", printable(&message[..cut]))
}

fn shown_data(data: Option<&Json>) -> String {
    data.map(|data| alloc::format!(": {}", excerpt(data.get().as_bytes()))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_written_as_it_was_read() {
        for text in [r#"{"code":-32602,"message":"no \"a\"","data":{"b":[1]}}"#, r#"{"code":0,"message":""}"#] {
            let error: RpcError = Json::parse(text).unwrap().decode().unwrap();
            assert_eq!(Json::from_value(&error).unwrap().get(), text);
        }
        for other in ["5", "[]", "null"] {
            assert!(Json::parse(other).unwrap().decode::<RpcError>().is_err());
        }
    }

    #[test]
    fn json_errors_of_handlers_become_errors_for_the_server() {
        fn handler(params: &str) -> Result<Json, RpcError> {
            let number: u32 = Json::parse(params)?.decode()?;
            Ok(Json::from_value(&alloc::collections::BTreeMap::from([((number > 1).then_some(number), 1)]))?)
        }
        assert_eq!(handler("[").unwrap_err().code, RpcError::INVALID_PARAMS);
        assert_eq!(handler("\"a\"").unwrap_err().code, RpcError::INVALID_PARAMS);
        assert_eq!(handler("1").unwrap_err().code, RpcError::INTERNAL_ERROR);
        assert_eq!(handler("2").unwrap().get(), r#"{"2":1}"#);
    }
}
