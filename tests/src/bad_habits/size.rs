//! Servers that say too much at once.

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

/// One line of about this many bytes.
pub(crate) struct Huge(pub(crate) usize);

impl Manners for Huge {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let bytes = request.argument("bytes").and_then(Raw::number).unwrap_or(self.0);
        let before = result_before(request);
        wire.write(before);
        fill(wire, bytes);
        wire.line(RESULT_AFTER);
    }
}

/// A line of this many bytes. `never-ends` has its id at the front and no line end, `ends` has a line end, and
/// `id-at-the-end` has its id behind all those bytes, `no-id` is nothing but bytes.
pub(crate) struct EndlessLine(pub(crate) usize);

impl Manners for EndlessLine {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "never-ends" => {
                wire.write(result_before(request));
                fill(wire, self.0);
                wire.drain();
            }
            "ends" => {
                wire.write(result_before(request));
                fill(wire, self.0);
                wire.line(RESULT_AFTER);
            }
            "id-at-the-end" => {
                wire.write(r#"{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":""#);
                fill(wire, self.0);
                wire.line(format!(r#""}}]}},"id":{}}}"#, request.id()));
            }
            "no-id" => {
                fill(wire, self.0);
                wire.line("");
            }
            _ => server::call_tool(wire, request),
        }
    }
}

/// Arrays in arrays, this many, in the place that the tool names.
pub(crate) struct DeepNesting(pub(crate) usize);

impl Manners for DeepNesting {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let deep = format!("{}{}", "[".repeat(self.0), "]".repeat(self.0));
        let id = request.id();
        match request.tool() {
            "structured" => wire.result(request, &format!(r#""content":[],"structuredContent":{{"deep":{deep}}}"#)),
            "unknown-member" => wire.result(request, &format!(r#""content":[],"deep":{deep}"#)),
            "content" => wire.result(request, &format!(r#""content":{deep}"#)),
            "block" => wire.result(request, &format!(r#""content":[{{"type":"new","deep":{deep}}}]"#)),
            "error-data" => {
                wire.line(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"deep","data":{deep}}}}}"#
                ));
            }
            "result" => wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{deep}}}"#)),
            "notification" => {
                wire.notify("notifications/message", &format!(r#""level":"info","data":{deep}"#));
                wire.text(request, "after a deep notification");
            }
            "unfinished" => {
                wire.line("[".repeat(self.0));
                wire.text(request, "after an unfinished line");
            }
            _ => server::call_tool(wire, request),
        }
    }
}

/// Says this many bytes before it listens to the first call.
pub(crate) struct BothPipesFull(pub(crate) usize);

impl Manners for BothPipesFull {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, server::TOOLS);
        let text = "x".repeat(1000);
        for _ in 0..self.0 / text.len() {
            wire.log(&text);
        }
    }
}

fn result_before(request: &Message) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"text","text":""#, request.id())
}

const RESULT_AFTER: &str = r#""}],"resultType":"complete"}}"#;

fn fill(wire: &mut Wire, bytes: usize) {
    let block = vec![b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(block.len());
        wire.write(&block[..part]);
        left -= part;
    }
}
