//! Servers that say more than the protocol has words for, and messages that are too many, too deep or too large.

use std::io::Write;
use std::{io, process};

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire, content};

/// A banner, log lines, JSON that is no message.
pub(crate) struct Noise;

const NOISE: &str = r#"Welcome to bad-habits 1.0!

   
{"level":"info","msg":"listening","ts":1700000000}
null
[1,2]
[]
{}
"text"
true
-1
{"jsonrpc":"2.0"}
{"jsonrpc":"2.0","method":7}
{"jsonrpc":"2.0","method":"notifications/never-heard-of","params":[1]}
{"jsonrpc":"2.0","id":{"a":1},"result":{}}
{"unfinished": 
["2.0",1,{}]"#;

impl Manners for Noise {
    fn begin(&mut self, wire: &mut Wire) {
        wire.line(NOISE);
    }

    fn message(&mut self, wire: &mut Wire, message: &Message) {
        wire.line(NOISE);
        server::dispatch(self, wire, message);
        wire.line(NOISE);
    }
}

/// Lines of random bytes, the same in every run.
pub(crate) struct Garbage(u64);

impl Default for Garbage {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Garbage {
    fn spill(&mut self, wire: &mut Wire) {
        for length in [1, 3, 40, 1000] {
            let bytes: Vec<u8> = (0..length).map(|_| self.byte()).collect();
            wire.line(bytes);
        }
    }

    /// Any byte but the line end, from a xorshift generator.
    fn byte(&mut self) -> u8 {
        loop {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            match self.0.to_le_bytes()[3] {
                b'\n' => {}
                byte => return byte,
            }
        }
    }
}

impl Manners for Garbage {
    fn begin(&mut self, wire: &mut Wire) {
        self.spill(wire);
    }

    fn message(&mut self, wire: &mut Wire, message: &Message) {
        self.spill(wire);
        server::dispatch(self, wire, message);
        self.spill(wire);
    }
}

pub(crate) struct CarriageReturns;

impl Manners for CarriageReturns {
    fn begin(&mut self, wire: &mut Wire) {
        wire.line_end = "\r\n";
        wire.write("\u{feff}");
    }
}

pub(crate) struct FloodsStderr(pub(crate) usize);

impl Manners for FloodsStderr {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let line = [b"a line of no interest, one of very many such lines on standard error".as_slice(), b"\n"].concat();
        let mut stderr = io::stderr().lock();
        for _ in 0..self.0 / line.len() {
            stderr.write_all(&line).expect("standard error is read");
        }
        stderr.write_all(b"the last of them\n").expect("standard error is read");
        server::call_tool(wire, request);
    }
}

/// Has much to say on standard error once there is nothing more to read.
pub(crate) struct LastWords(pub(crate) usize);

impl Manners for LastWords {
    fn end(&mut self, _wire: &mut Wire) {
        for number in 1..=self.0 {
            eprintln!("last words, line {number}");
        }
    }
}

/// A call of the tool `change` makes it say first that its tools have changed.
pub(crate) struct FloodsNotifications(pub(crate) usize);

impl Manners for FloodsNotifications {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        if request.tool() == "change" {
            wire.notify("notifications/tools/list_changed", "");
        }
        let total = self.0;
        for number in 1..=total {
            wire.log(&format!("message {number}"));
            if let Some(token) = request.progress_token() {
                let progress = format!(r#""progressToken":{token},"progress":{number},"total":{total}"#);
                wire.notify("notifications/progress", &progress);
            }
        }
        match request.tool() {
            "change" => wire.text(request, "changed"),
            _ => server::call_tool(wire, request),
        }
    }
}

/// Text that would move the cursor, change colours, ring the bell or set the title of a terminal that shows it as it is.
pub(crate) struct TerminalEscapes;

const ESCAPES: &str = r"\u001b[31mred\u001b[0m\u001b]0;title\u0007\b\u009b2J";

impl Manners for TerminalEscapes {
    fn begin(&mut self, _wire: &mut Wire) {
        eprintln!("\x1b[31mred on standard error\x1b[0m\x07");
    }

    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        let members =
            r#""protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"NAME","version":"1"}"#;
        wire.result(request, &members.replace("NAME", ESCAPES));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "echo" => wire.result(request, &content(ESCAPES)),
            "die" => process::exit(1),
            _ => wire.error(request, -32000, ESCAPES),
        }
    }
}

// Size.

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
