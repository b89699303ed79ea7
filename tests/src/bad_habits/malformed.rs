//! Servers whose answers are not what JSON-RPC, or JSON, or Unicode, allow.

use crate::server::{self, Manners};
use crate::wire::{Message, Wire, content};

/// The tool names the defect.
pub(crate) struct MalformedResponses;

impl Manners for MalformedResponses {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let id = request.id();
        let good = wire.object(&content("good"));
        let members = match request.tool() {
            "error-without-message" => r#""error":{"code":-32050}"#.to_owned(),
            "error-without-code" => r#""error":{"message":"it broke"}"#.to_owned(),
            "error-is-a-string" => r#""error":"it broke""#.to_owned(),
            "code-is-a-string" => r#""error":{"code":"-32050","message":"it broke"}"#.to_owned(),
            "error-is-null" => format!(r#""result":{good},"error":null"#),
            "result-and-error" => {
                format!(r#""result":{good},"error":{{"code":-32050,"message":"it broke"}}"#)
            }
            "neither" => r#""comment":"neither result nor error""#.to_owned(),
            "result-is-null" => r#""result":null"#.to_owned(),
            "result-is-a-string" => r#""result":"done""#.to_owned(),
            "result-is-an-array" => r#""result":[]"#.to_owned(),
            "result-twice" => format!(r#""result":{good},"result":{good}"#),
            "no-content" => format!(r#""result":{}"#, wire.object(r#""structuredContent":{"n":1}"#)),
            "content-is-a-string" => format!(r#""result":{}"#, wire.object(r#""content":"done""#)),
            "is-error-is-a-string" => {
                format!(r#""result":{}"#, wire.object(&format!(r#"{},"isError":"yes""#, content("good"))))
            }
            "block-without-text" => {
                let blocks = r#""content":[{"type":"text"},{"type":"text","text":"good"},7,{"text":"no type"}]"#;
                format!(r#""result":{}"#, wire.object(blocks))
            }
            "no-jsonrpc" => return wire.line(format!(r#"{{"id":{id},"result":{good}}}"#)),
            "old-jsonrpc" => {
                return wire.line(format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{good}}}"#));
            }
            "id-twice" => format!(r#""result":{good},"id":{id}"#),
            "unfinished" => r#""result":{"content":["#.to_owned(),
            "extra-brace" => format!(r#""result":{good}}}"#),
            _ => return server::call_tool(wire, request),
        };
        wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},{members}}}"#));
    }
}

/// The tool names what is not Unicode.
pub(crate) struct NotUtf8;

impl Manners for NotUtf8 {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "bytes" => {
                let id = request.id();
                let before =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"caf"#);
                wire.line([before.as_bytes(), b"\xe9 \xff\xfe", br#""}]}}"#].concat());
            }
            "surrogate" => wire.text(request, r"half a pair: \ud83d"),
            "surrogate-in-unknown" => {
                wire.result(request, &format!(r#"{},"x-vendor":"\ud83d""#, content("good")));
            }
            "notification" => {
                wire.line(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"\xff\"}}");
                wire.text(request, "after bytes that are no text");
            }
            _ => server::call_tool(wire, request),
        }
    }
}
