//! Servers whose answers are sound, but come in unusual ways.

use crate::server::{self, Manners, WellBehaved};
use crate::wire::{Message, Wire, content};

/// Every answer twice; the second to a call says so.
pub(crate) struct DuplicateIds;

impl Manners for DuplicateIds {
    fn message(&mut self, wire: &mut Wire, message: &Message) {
        WellBehaved.message(wire, message);
        match message.method() {
            "tools/call" => wire.text(message, "the second answer"),
            _ => WellBehaved.message(wire, message),
        }
    }
}

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

pub(crate) struct IdLast;

impl Manners for IdLast {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let result = wire.object(&content("the id is last"));
        wire.line(format!(r#"{{"result":{result},"id":{},"jsonrpc":"2.0"}}"#, request.id()));
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
