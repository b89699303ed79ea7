//! What a server does: [`Manners`] with their well-behaved defaults, and the loop that asks for them.

use std::env;
use std::process;

use crate::json::Raw;
use crate::wire::{Message, Wire, content};

/// What a server does on each occasion. A bad habit is one method that does something else.
pub(crate) trait Manners {
    /// Before anything is read.
    fn begin(&mut self, _wire: &mut Wire) {}

    /// On every message, requests and notifications alike.
    fn message(&mut self, wire: &mut Wire, message: &Message) {
        dispatch(self, wire, message);
    }

    fn discover(&mut self, wire: &mut Wire, request: &Message) {
        discover(wire, request);
        if wire.modern {
            self.ready(wire);
        }
    }

    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        initialize(wire, request);
    }

    /// The handshake is over. Nothing is read before this returns.
    fn ready(&mut self, _wire: &mut Wire) {}

    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        list_tools(wire, request, TOOLS);
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        call_tool(wire, request);
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        match message.method() {
            "ping" if !wire.modern => wire.result(message, ""),
            "notifications/initialized" => self.ready(wire),
            method if message.id() != "null" && !method.is_empty() => {
                wire.error(message, -32601, &format!("Method not found: {method}"));
            }
            _ => {}
        }
    }

    /// At the end of the input. The server exits when this returns.
    fn end(&mut self, _wire: &mut Wire) {}
}

/// The habit of having none.
pub(crate) struct WellBehaved;

impl Manners for WellBehaved {}

pub(crate) fn serve(manners: &mut dyn Manners, wire: &mut Wire) {
    manners.begin(wire);
    while let Some(message) = wire.receive() {
        manners.message(wire, &message);
    }
    manners.end(wire);
}

/// Takes a message to the occasion that it is. A request that the protocol does not allow is refused, so that no client
/// gets away with one.
pub(crate) fn dispatch(manners: &mut (impl Manners + ?Sized), wire: &mut Wire, message: &Message) {
    if let Some(objection) = wire.client.objection(message, wire.modern) {
        return wire.error(message, -32600, objection);
    }
    match message.method() {
        "server/discover" => manners.discover(wire, message),
        "initialize" => manners.initialize(wire, message),
        "tools/list" => manners.list_tools(wire, message),
        "tools/call" => manners.call_tool(wire, message),
        _ => manners.other(wire, message),
    }
}

/// The tools of a server that has no reason to have others.
pub(crate) const TOOLS: &str = r#"
    {"name":"echo","description":"Says what it is told.","inputSchema":{"type":"object","properties":{"message":{"type":"string"},"bytes":{"type":"integer"}}}},
    {"name":"fetch_data","title":"Fetch","description":"Fetches data for a query.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"annotations":{"readOnlyHint":true}},
    {"name":"fail","description":"Reports an error of the tool.","inputSchema":{"type":"object"}},
    {"name":"refuse","description":"Answers with an error of the protocol.","inputSchema":{"type":"object"}},
    {"name":"picky","description":"Refuses its arguments, whatever they are.","inputSchema":{"type":"object"}},
    {"name":"ponder","description":"Never comes to an answer.","inputSchema":{"type":"object"}},
    {"name":"measure","description":"Says how many bytes the message has.","inputSchema":{"type":"object"}},
    {"name":"environment","description":"The names and values of the environment, one a line.","inputSchema":{"type":"object"}},
    {"name":"arguments","description":"The arguments of the command line, one a line.","inputSchema":{"type":"object"}},
    {"name":"directory","description":"The working directory.","inputSchema":{"type":"object"}},
    {"name":"pid","description":"The id of the server's process.","inputSchema":{"type":"object"}}
"#;

pub(crate) fn discover(wire: &mut Wire, request: &Message) {
    if wire.modern {
        discover_with(wire, request, r#""2026-07-28""#);
    } else {
        wire.error(request, -32601, "Method not found: server/discover");
    }
}

/// Answers the probe with the given versions, a comma-separated list of JSON strings.
pub(crate) fn discover_with(wire: &mut Wire, request: &Message, versions: &str) {
    wire.result(
        request,
        &format!(
            r#""supportedVersions":[{versions}],"capabilities":{{"tools":{{}},"logging":{{}}}},"instructions":"Be patient.","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"bad-habits","version":"1.0"}}}}"#
        ),
    );
}

pub(crate) fn initialize(wire: &mut Wire, request: &Message) {
    if wire.modern {
        let id = request.id();
        wire.line(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"this server speaks 2026-07-28 and takes no handshake","data":{{"supported":["2026-07-28"]}}}}}}"#
        ));
    } else {
        initialize_with(wire, request, r#""protocolVersion":"2025-11-25","#);
    }
}

/// Answers the handshake with the given version, a member with its comma, or nothing.
pub(crate) fn initialize_with(wire: &mut Wire, request: &Message, version: &str) {
    wire.result(
        request,
        &format!(
            r#"{version}"capabilities":{{"tools":{{"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"bad-habits","version":"1.0"}},"instructions":"Be patient.""#
        ),
    );
}

/// Answers with a page of tools, the inside of a JSON array, that is the last.
pub(crate) fn list_tools(wire: &mut Wire, request: &Message, tools: &str) {
    let cache = if wire.modern { r#","ttlMs":0,"cacheScope":"private""# } else { "" };
    wire.result(request, &format!(r#""tools":[{}]{cache}"#, tools.trim().replace('\n', " ")));
}

pub(crate) fn call_tool(wire: &mut Wire, request: &Message) {
    match request.tool() {
        "echo" => echo(wire, request),
        "fetch_data" => {
            let query = request.argument("query").map_or("", Raw::text);
            wire.text(request, &format!("data for {query}"));
        }
        "fail" => wire.result(request, &format!(r#"{},"isError":true"#, content("the tool failed"))),
        "refuse" => {
            let id = request.id();
            wire.line(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32050,"message":"not today","data":{{"until":"tomorrow"}}}}}}"#
            ));
        }
        "measure" => {
            let length = request.argument("message").map_or(0, |message| message.text().len());
            wire.text(request, &length.to_string());
        }
        "environment" => {
            let lines: Vec<String> =
                env::vars_os().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
            wire.text(request, &escape(&lines.join("\n")));
        }
        "arguments" => {
            let arguments: Vec<String> = env::args().collect();
            wire.text(request, &escape(&arguments.join("\n")));
        }
        "directory" => {
            let directory = env::current_dir().unwrap_or_default();
            wire.text(request, &escape(&directory.to_string_lossy()));
        }
        "pid" => wire.text(request, &process::id().to_string()),
        "number" => wire.result(request, &format!(r#"{},"structuredContent":{{"n":5}}"#, content("5"))),
        "numeral" => wire.result(request, &format!(r#"{},"structuredContent":{{"n":"five"}}"#, content("five"))),
        "trace" => {
            let parent = request.at(&["params", "_meta", "traceparent"]);
            wire.text(request, parent.map_or("none", Raw::text));
        }
        "ponder" => eprintln!("bad-habits: let me think"),
        "picky" => wire.error(request, -32602, "no such colour"),
        tool => wire.error(request, -32602, &format!("Unknown tool: {tool}")),
    }
}

/// The message back, or as many bytes as were asked for.
fn echo(wire: &mut Wire, request: &Message) {
    match request.argument("bytes").and_then(Raw::number) {
        Some(bytes) => wire.text(request, &"x".repeat(bytes)),
        None => wire.text(request, request.argument("message").map_or("", Raw::text)),
    }
}

/// A text as it stands in JSON between quotes; other control characters become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\0'..=' ' => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}
