//! Servers of tests: shell scripts, the demo over HTTP, and responses over HTTP.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use super::{Finished, WATCHDOG, Words, command, mcpwire};

/// A server as a shell script. It ignores methods that it does not know.
pub(crate) struct Script(String);

impl Script {
    /// Creates a server of revision 2025-11-25 with these capabilities.
    pub(crate) fn legacy(capabilities: &str) -> Self {
        Self::legacy_of("2025-11-25", capabilities)
    }

    /// Creates a server of a revision with `initialize`.
    pub(crate) fn legacy_of(revision: &str, capabilities: &str) -> Self {
        let server = r#""serverInfo":{"name":"scripted","version":"1"}"#;
        let result = format!(r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},{server}}}"#);
        let unknown = r#""error":{"code":-32601,"message":"no"}"#;
        Self(String::new()).answers("server/discover", unknown).answers("initialize", &result)
    }

    /// Creates a server of revision 2026-07-28 without capabilities.
    pub(crate) fn modern() -> Self {
        Self::modern_with("{}")
    }

    /// Creates a server of revision 2026-07-28 with these capabilities.
    pub(crate) fn modern_with(capabilities: &str) -> Self {
        let versions = r#""supportedVersions":["2026-07-28"]"#;
        let result = format!(r#"{{"resultType":"complete",{versions},"capabilities":{capabilities}}}"#);
        Self(String::new()).answers("server/discover", &result)
    }

    /// Creates a legacy server that has tools and log messages, and answers `tools/list` with this result.
    pub(crate) fn with_tools(list: &str) -> Self {
        Self::legacy(r#"{"tools":{},"logging":{}}"#).answers("logging/setLevel", "{}").answers("tools/list", list)
    }

    /// Creates a legacy server with the tools `t` and `draw`.
    pub(crate) fn tools() -> Self {
        Self::with_tools(
            r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"draw","inputSchema":{"type":"object"}}]}"#,
        )
    }

    /// Creates a legacy server with the tools `t` and `draw`, which answers `tools/call` with this result.
    pub(crate) fn call(result: &str) -> Self {
        Self::tools().answers("tools/call", result)
    }

    /// Answers a method with this result, or with these members of the response if they start with a quote.
    pub(crate) fn answers(self, method: &str, result: &str) -> Self {
        self.does(method, &say(result))
    }

    /// Runs shell code for a method. `$line` is the message, and `$id` its id.
    pub(crate) fn does(self, method: &str, code: &str) -> Self {
        Self(format!("{}    *'\"method\":\"{method}\"'*) {code} ;;\n", self.0))
    }

    pub(crate) fn text(&self) -> String {
        let head = r#"say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  case $line in
"#;
        format!("{head}{}  esac\ndone\n", self.0)
    }

    /// Runs `mcpwire` with these arguments and this server.
    pub(crate) fn run(&self, arguments: &(impl Words + ?Sized)) -> Finished {
        mcpwire(&scripted(arguments, &self.text()))
    }
}

/// Returns the words of a command line, followed by a server that is a shell script.
pub(crate) fn scripted<'a>(words: &'a (impl Words + ?Sized), script: &'a str) -> Vec<&'a str> {
    [&words.words()[..], &["--", "sh", "-c", script]].concat()
}

/// Returns the code of a [`Script`] that sends this result, or these members of a response if they start with a quote.
pub(crate) fn say(result: &str) -> String {
    let members = if result.starts_with('"') { result.to_owned() } else { format!("\"result\":{result}") };
    format!("say {}", quoted(&members))
}

/// Quotes a text for a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `mcpwire demo-server --http`, killed when it is dropped.
pub(crate) struct DemoServer {
    child: Child,
    pub(crate) url: String,
    /// The lines of the server's standard error.
    log: mpsc::Receiver<String>,
}

impl DemoServer {
    pub(crate) fn start() -> Self {
        let mut command = command(&["demo-server", "--http", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut url).expect("the URL is text");
        let (sender, log) = mpsc::channel();
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, url: url.trim_end().to_owned(), log }
    }

    /// Waits until the server has logged that a request was cancelled.
    #[track_caller]
    pub(crate) fn assert_cancelled(&self) {
        let line = self.log.recv_timeout(WATCHDOG).expect("a line in time");
        assert!(line.contains("was cancelled"), "{line}");
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server over HTTP that answers all requests alike.
pub(crate) struct Answering {
    pub(crate) url: String,
    /// The heads of the requests.
    pub(crate) heads: mpsc::Receiver<String>,
}

impl Answering {
    /// Starts a server that answers with this status and these headers. The body is an error with this message, unless that is empty.
    pub(crate) fn start(status: &'static str, message: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let (sender, heads) = mpsc::channel();
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    let start = head.len();
                    if reader.read_line(&mut head).unwrap_or(0) == 0 {
                        break;
                    }
                    let header = head[start..].to_lowercase();
                    length =
                        header.strip_prefix("content-length: ").map_or(length, |n| n.trim().parse().expect("a number"));
                }
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                let _ = sender.send(head);
                let request: Value = serde_json::from_slice(&body).unwrap_or_default();
                let error = json!({"code": -32603, "message": message});
                let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string();
                let body = if message.is_empty() { String::new() } else { error };
                let kind = if message.is_empty() { "" } else { "Content-Type: application/json\r\n" };
                let head =
                    format!("HTTP/1.1 {status}\r\nConnection: close\r\n{kind}Content-Length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        });
        Self { url, heads }
    }
}
