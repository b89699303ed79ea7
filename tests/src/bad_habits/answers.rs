//! Servers whose answers are not as the protocol, JSON-RPC, JSON or Unicode want them.

use crate::server::{self, Manners, WellBehaved};
use crate::wire::{Message, Wire, content};

// Which request they answer.

/// Answers that nobody waits for come before each answer. The tool `float` gets its own id back as a float, the tool
/// `string` as a string.
pub(crate) struct ForeignIds;

const FOREIGN: &[&str] = &["987654321", "-1", "1.5", "\"nobody\"", "18446744073709551616", "1e300", "true", "[1]"];

impl Manners for ForeignIds {
    fn message(&mut self, wire: &mut Wire, message: &Message) {
        for id in FOREIGN {
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{}}}}}"#, content("foreign")));
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"foreign"}}}}"#));
        }
        server::dispatch(self, wire, message);
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let id = match request.tool() {
            "float" => format!("{}.0", request.id()),
            "string" => format!(r#""{}""#, request.id()),
            _ => return server::call_tool(wire, request),
        };
        let result = wire.object(&content("found"));
        wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
}

/// The answer to a call stands in an array between two notifications.
pub(crate) struct Batch;

impl Manners for Batch {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"batched"}}"#;
        let result = wire.object(&content("from a batch"));
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id());
        wire.line(format!("[{log},{answer},{log}]"));
    }
}

/// Keeps a call `wait` until the client cancels it, answers it then, and says so in answer to `cancelled`. On standard
/// error it says when it waits.
#[derive(Default)]
pub(crate) struct LateReplies {
    waiting: Option<String>,
    cancelled: usize,
}

impl Manners for LateReplies {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "wait" => {
                self.waiting = Some(request.id().to_owned());
                eprintln!("bad-habits: I wait");
            }
            "cancelled" => wire.text(request, &self.cancelled.to_string()),
            _ => server::call_tool(wire, request),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        let cancelled = message.at(&["params", "requestId"]).map(|id| id.0);
        match &self.waiting {
            Some(id) if message.method() == "notifications/cancelled" && cancelled == Some(id) => {
                let result = wire.object(&content("too late"));
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
                self.waiting = None;
                self.cancelled += 1;
            }
            _ => WellBehaved.other(wire, message),
        }
    }
}

/// Answers the probe, and a call of the tool `vague`, with an error that does not say what it answers.
pub(crate) struct NamelessErrors;

impl NamelessErrors {
    fn complain(wire: &mut Wire) {
        wire.line(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"}}"#);
    }
}

impl Manners for NamelessErrors {
    fn discover(&mut self, wire: &mut Wire, _request: &Message) {
        Self::complain(wire);
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        if request.tool() == "vague" {
            Self::complain(wire);
        } else {
            server::call_tool(wire, request);
        }
    }
}

pub(crate) struct EchoUnknown;

impl Manners for EchoUnknown {
    fn discover(&mut self, wire: &mut Wire, request: &Message) {
        wire.line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, request.id()));
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        if message.id() != "null" {
            wire.result(message, "");
        }
    }
}

// Their form.

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

// Results of shapes that the schema does not have.

/// Types, enum values and members from a future or a vendor.
pub(crate) struct UnknownBlocks;

impl Manners for UnknownBlocks {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        if request.tool() != "blocks" {
            return server::call_tool(wire, request);
        }
        wire.notify("notifications/message", r#""level":"catastrophe","data":"an unknown level""#);
        wire.notify("notifications/vendor", r#""a":1"#);
        wire.result(
            request,
            r#""content":[{"type":"text","text":"first","annotations":{"audience":["user","robot"],"priority":"high"},"x-vendor":1},{"type":"hologram","depth":3,"data":{"text":"inside"}},{"type":"image","data":"AAAA","mimeType":"image/never-seen","annotations":{"audience":"everyone"}},{"type":"text","text":"last"}],"x-vendor":{"a":[1,2]},"_meta":{"com.example/trace":"abc"}"#,
        );
    }
}
