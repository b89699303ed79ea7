//! The wire: what a server reads and writes, and what it may expect of its client.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Stdin, Write};
use std::{io, process};

use crate::json::Raw;
use crate::system;

/// The server's end of the connection, and the era that it speaks.
pub(crate) struct Wire {
    input: BufReader<Stdin>,
    output: File,
    pub(crate) client: Client,
    pub(crate) modern: bool,
    pub(crate) line_end: &'static str,
}

impl Wire {
    pub(crate) fn of_process(modern: bool) -> Self {
        Self {
            input: BufReader::new(io::stdin()),
            output: system::output(),
            client: Client::default(),
            modern,
            line_end: "\n",
        }
    }

    /// The client's next message; nothing at the end of the input.
    pub(crate) fn receive(&mut self) -> Option<Message> {
        let mut line = Vec::new();
        match self.input.read_until(b'\n', &mut line) {
            Ok(length) if length > 0 => Some(Message(String::from_utf8(line).expect("the client sends UTF-8"))),
            _ => None,
        }
    }

    /// Throws the rest of the input away, up to its end.
    pub(crate) fn drain(&mut self) {
        let mut buffer = vec![0; 1 << 16];
        while matches!(self.input.read(&mut buffer), Ok(1..)) {}
    }

    /// Writes as it is, with no line end. A client that is gone ends the server.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        if self.output.write_all(bytes.as_ref()).is_err() {
            process::exit(0);
        }
    }

    pub(crate) fn line(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), self.line_end.as_bytes()].concat();
        self.write(line);
    }

    pub(crate) fn notify(&mut self, method: &str, params: &str) {
        self.line(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#));
    }

    pub(crate) fn log(&mut self, text: &str) {
        self.notify("notifications/message", &format!(r#""level":"info","data":"{text}""#));
    }

    /// Answers with a result, given by its members.
    pub(crate) fn result(&mut self, request: &Message, members: &str) {
        let result = self.object(members);
        self.line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id()));
    }

    /// Answers a call with one block of text, given as it stands in JSON between its quotes.
    pub(crate) fn text(&mut self, request: &Message, text: &str) {
        self.result(request, &content(text));
    }

    pub(crate) fn error(&mut self, request: &Message, code: i32, message: &str) {
        let id = request.id();
        self.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#));
    }

    /// A result object, with the members that the era asks of every result.
    pub(crate) fn object(&self, members: &str) -> String {
        let comma = if members.is_empty() { "" } else { "," };
        if self.modern { format!(r#"{{"resultType":"complete"{comma}{members}}}"#) } else { format!("{{{members}}}") }
    }

    /// Closes standard input, so that writing to it fails.
    pub(crate) fn close_input() {
        system::close_input();
    }

    /// Closes standard output, and no other copy of it is left in this process.
    pub(crate) fn close_output(&mut self) {
        self.output = system::close_output();
    }
}

/// The members of a result that is one block of text.
pub(crate) fn content(text: &str) -> String {
    format!(r#""content":[{{"type":"text","text":"{text}"}}]"#)
}

/// One message of the client.
#[derive(Clone)]
pub(crate) struct Message(String);

impl Message {
    pub(crate) fn at(&self, path: &[&str]) -> Option<Raw<'_>> {
        Raw(&self.0).at(path)
    }

    /// The id as it stands, `null` for a notification.
    pub(crate) fn id(&self) -> &str {
        self.at(&["id"]).map_or("null", |id| id.0)
    }

    /// The method, empty for a response.
    pub(crate) fn method(&self) -> &str {
        self.at(&["method"]).map_or("", Raw::text)
    }

    /// The name of the tool that is called.
    pub(crate) fn tool(&self) -> &str {
        self.at(&["params", "name"]).map_or("", Raw::text)
    }

    /// An argument of the tool that is called.
    pub(crate) fn argument(&self, name: &str) -> Option<Raw<'_>> {
        self.at(&["params", "arguments", name])
    }

    pub(crate) fn progress_token(&self) -> Option<&str> {
        self.at(&["params", "_meta", "progressToken"]).map(|token| token.0)
    }
}

// What a server may expect of its client: no client gets away with a request that the protocol does not allow.

/// The client, as far as it has shown itself.
#[derive(Default)]
pub(crate) struct Client {
    initialized: bool,
    /// Nothing has been asked yet: any id will do, 0 too.
    last_id: Option<usize>,
}

impl Client {
    /// What is wrong with its next message, if anything is.
    pub(crate) fn objection(&mut self, message: &Message, modern: bool) -> Option<&'static str> {
        let method = message.method();
        if method.is_empty() || message.id() == "null" {
            self.initialized |= method == "notifications/initialized";
            return None;
        }
        let last = self.last_id;
        self.last_id = message.at(&["id"]).and_then(Raw::number).or(last);
        let lacks = |path: &[&str]| message.at(path).is_none();
        if message.at(&["jsonrpc"]).map(Raw::text) != Some("2.0") {
            Some("a request must say that it is JSON-RPC 2.0")
        } else if self.last_id <= last {
            Some("ids must be numbers that grow")
        } else if method == "initialize" {
            let incomplete = lacks(&["params", "protocolVersion"])
                || lacks(&["params", "capabilities"])
                || lacks(&["params", "clientInfo", "name"]);
            incomplete.then_some("initialize must say who asks, for which version, and what it can do")
        } else if modern {
            let incomplete = lacks(&["params", "_meta", "io.modelcontextprotocol/protocolVersion"])
                || lacks(&["params", "_meta", "io.modelcontextprotocol/clientCapabilities"]);
            incomplete.then_some("each request must carry its version and capabilities")
        } else {
            let early = !self.initialized && !matches!(method, "server/discover" | "ping");
            early.then_some("notifications/initialized must come first")
        }
    }
}
