//! Reads the lines of a server, and judges them by the rules that all messages have.

use mcpwire_driver::protocol::{Era, ProtocolVersion};
use serde_json::{Map, Value};

/// A message of the server, as far as a test needs it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Incoming {
    Response(Response),
    /// A request of the server, with its id and its method.
    Request(Value, String),
    Notification,
    /// Something that is no message, and what is wrong with it.
    Noise(String),
}

/// A response of the server to the request `id`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Response {
    /// The id of the request. `null` if the server could not read it.
    pub(super) id: Value,
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Result(Map<String, Value>),
    Error {
        code: i64,
        message: String,
    },
    /// The response breaks a rule. Says which.
    Invalid(String),
}

/// Reads a line of the server. It contains several messages if it is a batch, which only revision 2025-03-26 allows.
pub(super) fn read(line: &[u8], version: Option<ProtocolVersion>) -> Vec<Incoming> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(batch)) if version == Some(ProtocolVersion::V2025_03_26) && !batch.is_empty() => {
            batch.into_iter().map(|message| of_value(message, line, version)).collect()
        }
        Ok(message) => vec![of_value(message, line, version)],
        Err(_) => vec![Incoming::Noise(excerpt(line))],
    }
}

fn of_value(message: Value, line: &[u8], version: Option<ProtocolVersion>) -> Incoming {
    let Value::Object(mut message) = message else { return Incoming::Noise(excerpt(line)) };
    let is_marked = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let id = message.remove("id");
    match (message.get("method").and_then(Value::as_str), id) {
        (Some(method), Some(id)) if is_marked => Incoming::Request(id, method.to_owned()),
        (Some(_), None) if is_marked => Incoming::Notification,
        (None, id) if message.contains_key("result") || message.contains_key("error") => {
            let body = if is_marked {
                body(message, version)
            } else {
                Body::Invalid("it has no member `\"jsonrpc\": \"2.0\"`".to_owned())
            };
            Incoming::Response(Response { id: id.unwrap_or(Value::Null), body })
        }
        _ => Incoming::Noise(excerpt(line)),
    }
}

fn body(mut message: Map<String, Value>, version: Option<ProtocolVersion>) -> Body {
    let wrong = |reason: &str| Body::Invalid(reason.to_owned());
    match (message.remove("result"), message.remove("error")) {
        (Some(_), Some(_)) => wrong("it has both `result` and `error`"),
        (Some(Value::Object(result)), None) => Body::Result(result),
        (Some(_), None) => wrong("its `result` is not an object"),
        (None, Some(error)) => {
            let Some(code) = error.get("code").and_then(Value::as_i64) else {
                return wrong("the `code` of its error is not an integer");
            };
            let Some(message) = error.get("message").and_then(Value::as_str) else {
                return wrong("its error has no `message`");
            };
            // Revision 2026-07-28: basic/index, "Error Codes".
            if version.is_some_and(|version| version.era() == Era::Modern) && matches!(code, -32002 | -32042) {
                return Body::Invalid(format!("its error has the code {code}, which its revision forbids"));
            }
            Body::Error { code, message: message.to_owned() }
        }
        (None, None) => wrong("it has neither `result` nor `error`"),
    }
}

/// Returns the beginning of a text of the server, without control characters.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(text);
    let shown: String = text.trim().chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.trim().chars().count() > LONGEST { shown + "…" } else { shown }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn one(line: &str) -> Incoming {
        let mut messages = read(line.as_bytes(), Some(ProtocolVersion::V2025_11_25));
        assert_eq!(messages.len(), 1, "{messages:?}");
        messages.remove(0)
    }

    #[test]
    fn responses_that_break_a_rule_say_which() {
        for (members, reason) in [
            (r#""result":{},"error":{"code":1,"message":""}"#, "both"),
            (r#""result":[]"#, "not an object"),
            (r#""error":{"code":"x","message":""}"#, "not an integer"),
            (r#""error":{"code":1.5,"message":""}"#, "not an integer"),
            (r#""error":{"code":-32601}"#, "no `message`"),
        ] {
            let Incoming::Response(Response { id, body: Body::Invalid(what) }) =
                one(&format!(r#"{{"jsonrpc":"2.0","id":"a",{members}}}"#))
            else {
                panic!("{members}")
            };
            assert!(id == "a" && what.contains(reason), "{what}");
        }
        assert!(matches!(one(r#"{"id":1,"result":{}}"#), Incoming::Response(Response { body: Body::Invalid(_), .. })));
    }

    #[test]
    fn lines_that_are_no_messages_are_noise() {
        for line in ["hello", "{\"a\":1}", "[]", "7", "{\"jsonrpc\":\"2.0\"}", "\u{1b}[31mred"] {
            assert!(matches!(one(line), Incoming::Noise(_)), "{line}");
        }
        assert_eq!(one("a\tb\u{7}"), Incoming::Noise("a b ".to_owned()));
        assert!(read(b" \r", None).is_empty());
    }

    #[test]
    fn a_batch_is_a_message_in_one_revision_only() {
        let batch = br#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"a"}]"#;
        assert_eq!(read(batch, Some(ProtocolVersion::V2025_03_26)).len(), 2);
        assert!(matches!(read(batch, Some(ProtocolVersion::V2025_11_25))[..], [Incoming::Noise(_)]));
        let request = Incoming::Request(json!(3), "ping".to_owned());
        assert_eq!(one(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#), request);
    }
}
