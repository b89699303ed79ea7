//! A server that costs next to nothing, so that what is measured is the client.
//!
//! ```text
//! fast_server [--tools N] [--escapes] [--result-first]
//! ```
//!
//! | | |
//! |---|---|
//! | `echo {"bytes": N}` | answers with a text of N bytes |
//! | `flood {"count": N}` | sends N log messages before its answer |
//! | `--tools N` | how many tools it lists; 10 where nothing is said |
//! | `--escapes` | the text looks like source code: one byte in twenty has an escape in JSON |
//! | `--result-first` | an answer's `result` stands before its `id` |
//!
//! It speaks the legacy era, builds no tree of a message, makes each long answer once, and answers all that one read
//! brought with one write.

#[path = "../../src/bad_habits/json.rs"]
mod json;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::{env, process, str};

use crate::json::Raw;

/// What a pipe holds on Linux.
const PIPE: usize = 64 * 1024;

/// One line of the text with escapes: 64 bytes, three of which JSON escapes.
const LINE_OF_CODE: &str = r#"    let value = map.get(\"key\").unwrap(); // a line of 64 bytes.\n"#;
const LINE_OF_CODE_LEN: usize = LINE_OF_CODE.len() - 3;

fn main() {
    let mut server = Server::new(&Options::of_process());
    // A client that is gone ends the server, and so does the end of its input.
    let _ = server.serve(unbuffered(io::stdin().as_fd()), unbuffered(io::stdout().as_fd()));
}

/// The standard handles lock and keep buffers of their own; a file does neither.
fn unbuffered(stream: BorrowedFd<'_>) -> File {
    File::from(stream.try_clone_to_owned().expect("the stream is open"))
}

struct Options {
    tools: usize,
    escapes: bool,
    result_first: bool,
}

impl Options {
    fn of_process() -> Self {
        let mut options = Self { tools: 10, escapes: false, result_first: false };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--tools" => options.tools = words.next().and_then(|n| n.parse().ok()).unwrap_or_else(|| usage(&word)),
                "--escapes" => options.escapes = true,
                "--result-first" => options.result_first = true,
                _ => usage(&word),
            }
        }
        options
    }
}

fn usage(word: &str) -> ! {
    eprintln!("fast_server: cannot use {word}\nusage: fast_server [--tools N] [--escapes] [--result-first]");
    process::exit(2)
}

struct Server {
    escapes: bool,
    result_first: bool,
    tools: String,
    /// The last answer of `echo`, and the length of its text.
    echo: (usize, String),
    /// What waits to be written.
    out: Vec<u8>,
}

impl Server {
    fn new(options: &Options) -> Self {
        Self {
            escapes: options.escapes,
            result_first: options.result_first,
            tools: list_of_tools(options.tools),
            echo: (0, text_result("")),
            out: Vec::with_capacity(PIPE),
        }
    }

    fn serve(&mut self, mut input: File, mut output: File) -> io::Result<()> {
        let mut read = vec![0; PIPE];
        let mut lines = Vec::new();
        loop {
            let n = input.read(&mut read)?;
            if n == 0 {
                return Ok(());
            }
            lines.extend_from_slice(&read[..n]);
            let Some(newline) = memchr::memrchr(b'\n', &read[..n]) else { continue };
            let end = lines.len() - n + newline;
            for line in lines[..end].split(|byte| *byte == b'\n') {
                self.answer(Raw(str::from_utf8(line).unwrap_or_default()), &mut output)?;
            }
            lines.drain(..=end);
            self.write_out(&mut output)?;
        }
    }

    fn answer(&mut self, message: Raw<'_>, output: &mut File) -> io::Result<()> {
        let (Some(id), Some(method)) = (message.at(&["id"]), message.at(&["method"])) else { return Ok(()) };
        match method.text() {
            "tools/call" => return self.call(id, message.at(&["params"]).unwrap_or(message), output),
            "tools/list" => {
                self.begin_result(id);
                self.out.extend_from_slice(self.tools.as_bytes());
                self.end_result(id);
            }
            "initialize" => {
                let version = message.at(&["params", "protocolVersion"]).map_or("2025-11-25", Raw::text);
                let result = format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}},"logging":{{}}}},"serverInfo":{{"name":"fast-server","version":"1"}}}}"#
                );
                self.result(id, &result);
            }
            "ping" => self.result(id, "{}"),
            _ => {
                let error = r#""error":{"code":-32601,"message":"Method not found"}"#;
                writeln!(self.out, r#"{{"jsonrpc":"2.0","id":{},{error}}}"#, id.0)?;
            }
        }
        Ok(())
    }

    fn call(&mut self, id: Raw<'_>, params: Raw<'_>, output: &mut File) -> io::Result<()> {
        let argument = |name| params.at(&["arguments", name]).and_then(Raw::number);
        if params.at(&["name"]).map(Raw::text) == Some("flood") {
            self.flood(argument("count").unwrap_or(0), output)?;
            self.result(id, &text_result("done"));
            return Ok(());
        }
        self.echo(id, argument("bytes").unwrap_or(0), output)
    }

    fn echo(&mut self, id: Raw<'_>, bytes: usize, output: &mut File) -> io::Result<()> {
        if self.echo.0 != bytes {
            self.echo = (bytes, text_result(&text_of(bytes, self.escapes)));
        }
        self.begin_result(id);
        if bytes > PIPE {
            self.write_out(output)?;
            output.write_all(self.echo.1.as_bytes())?;
        } else {
            self.out.extend_from_slice(self.echo.1.as_bytes());
        }
        self.end_result(id);
        Ok(())
    }

    fn flood(&mut self, count: usize, output: &mut File) -> io::Result<()> {
        for line in 0..count {
            writeln!(
                self.out,
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","logger":"bench","data":"line {line} of a log that carries about sixty-four bytes"}}}}"#
            )?;
            if self.out.len() > PIPE / 2 {
                self.write_out(output)?;
            }
        }
        Ok(())
    }

    fn result(&mut self, id: Raw<'_>, result: &str) {
        self.begin_result(id);
        self.out.extend_from_slice(result.as_bytes());
        self.end_result(id);
    }

    fn begin_result(&mut self, id: Raw<'_>) {
        if self.result_first {
            self.out.extend_from_slice(br#"{"result":"#);
        } else {
            self.out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
            self.out.extend_from_slice(id.0.as_bytes());
            self.out.extend_from_slice(br#","result":"#);
        }
    }

    fn end_result(&mut self, id: Raw<'_>) {
        if self.result_first {
            self.out.extend_from_slice(br#","jsonrpc":"2.0","id":"#);
            self.out.extend_from_slice(id.0.as_bytes());
        }
        self.out.extend_from_slice(b"}\n");
    }

    fn write_out(&mut self, output: &mut File) -> io::Result<()> {
        output.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

/// A result of one block, whose text is given as it stands in JSON.
fn text_result(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"isError":false}}"#)
}

/// A text of so many bytes, as it stands in JSON.
fn text_of(bytes: usize, escapes: bool) -> String {
    let lines = if escapes { bytes / LINE_OF_CODE_LEN } else { 0 };
    LINE_OF_CODE.repeat(lines) + &"x".repeat(bytes - lines * LINE_OF_CODE_LEN)
}

/// Tools with a schema and hints of usual size.
fn list_of_tools(count: usize) -> String {
    let tools: Vec<String> = (0..count)
        .map(|number| {
            let name = match number {
                0 => "echo".to_owned(),
                1 => "flood".to_owned(),
                _ => format!("tool_{number}"),
            };
            format!(
                r#"{{"name":"{name}","title":"Tool {number}","description":"Looks number {number} up in the index and returns what it finds, newest first.","inputSchema":{{"type":"object","properties":{{"query":{{"type":"string","description":"What to look for"}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":10}},"tags":{{"type":"array","items":{{"type":"string"}}}}}},"additionalProperties":true}},"annotations":{{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}}}"#
            )
        })
        .collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}
