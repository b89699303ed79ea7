//! The limits: a pipe to the server that only passes a line on, and a client that does nothing but read each answer into its type.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use crate::{Client, Echo};

/// A server's pipes.
pub(crate) struct Pipe {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipe {
    pub(crate) fn write(&mut self, lines: &[u8]) {
        self.input.write_all(lines).expect("the server reads");
    }

    /// The next line.
    pub(crate) fn read(&mut self) -> &[u8] {
        self.line.clear();
        let n = self.output.read_until(b'\n', &mut self.line).expect("the server writes");
        assert!(n > 0, "the server has ended");
        &self.line
    }
}

impl Client for Pipe {
    fn open(flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fast_server"));
        let mut server = command.args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = server.stdin.take().expect("it has an input");
        let output = BufReader::with_capacity(64 * 1024, server.stdout.take().expect("it has an output"));
        Self { server, input, output, line: Vec::new() }
    }

    fn echo(&mut self, calls: usize, bytes: usize) -> usize {
        let params = json!({"name": "echo", "arguments": Echo::new(bytes)});
        let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        self.write(line.repeat(calls).as_bytes());
        for _ in 0..calls {
            assert!(self.read().len() > bytes);
        }
        bytes
    }

    fn list(&mut self) -> usize {
        self.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
        // What the pipe brings is not looked at; each tool is more than 100 bytes.
        self.read().len().min(100_000) / 100
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

// The limit for anything useful: requests are serialised from their type, answers are read into theirs in one pass. There are no
// timeouts, no cancelling, no errors, no notifications; what the server writes is taken for the answer that is next.

pub(crate) struct Bare {
    pipe: Pipe,
    out: Vec<u8>,
    /// The id of the last request, and of the last answer.
    sent: u64,
    received: u64,
}

impl Bare {
    fn request(&mut self, method: &str, params: impl Serialize) {
        self.sent += 1;
        let request = Request { jsonrpc: "2.0", id: self.sent, method, params };
        serde_json::to_writer(&mut self.out, &request).expect("it serialises");
        self.out.push(b'\n');
    }

    fn send(&mut self) {
        self.pipe.write(&self.out);
        self.out.clear();
    }

    /// The answer that is next. `look` sees it while it still borrows from the line.
    fn answer<T>(&mut self, look: impl FnOnce(&[u8]) -> (u64, T)) -> T {
        self.received += 1;
        let (id, value) = look(self.pipe.read());
        assert_eq!(id, self.received);
        value
    }
}

impl Client for Bare {
    fn open(flags: &[&str]) -> Self {
        Self { pipe: Pipe::open(flags), out: Vec::new(), sent: 0, received: 0 }
    }

    fn echo(&mut self, calls: usize, bytes: usize) -> usize {
        for _ in 0..calls {
            self.request("tools/call", CallParams { name: "echo", arguments: Echo::new(bytes) });
        }
        self.send();
        let mut len = 0;
        for _ in 0..calls {
            len = self.answer(|line| {
                let answer: Answer<CallResult<'_>> = serde_json::from_slice(line).expect("it is a result");
                let text = answer.result.content.first().and_then(|block| block.text.as_ref());
                (answer.id, text.map_or(0, String::len))
            });
        }
        len
    }

    fn list(&mut self) -> usize {
        self.request("tools/list", serde_json::Map::new());
        self.send();
        self.answer(|line| {
            let answer: Answer<ToolList> = serde_json::from_slice(line).expect("it is a list");
            (answer.id, answer.result.tools.len())
        })
    }
}

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'a str,
    id: u64,
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: Echo,
}

#[derive(Deserialize)]
struct Answer<R> {
    id: u64,
    result: R,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a client reads all of them")]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a client reads all of them")]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
}

#[derive(Deserialize)]
struct ToolList {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "a client reads all of them")]
#[serde(rename_all = "camelCase")]
struct Tool {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: Box<RawValue>,
    output_schema: Option<Box<RawValue>>,
    annotations: Option<Box<RawValue>>,
}
