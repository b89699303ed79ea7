//! The limit: a line goes out that is ready already, and what comes back is read to its newline and not looked at.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;

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
