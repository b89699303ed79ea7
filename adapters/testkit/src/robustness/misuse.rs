//! The checks of the protocol: requests in unusual forms, and messages that no client should send.

use mcpwire_driver::protocol::{Era, ProtocolVersion, ServerCapabilities, ServerInfo};
use serde_json::{Value, json};

use super::peer::Peer;

/// The ids of the checks begin here. Those of other requests are smaller.
const FIRST_ID: u64 = 100_000;
/// Length of a very long line in bytes.
pub(super) const LONG_LINE: usize = 1 << 20;
/// Number of requests that are sent while nothing is read: their answers fill any pipe.
const UNREAD: usize = 500;

/// A check of the protocol: lines to send, and which answers are allowed.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: &'static str,
    /// The section of the specification that says what must happen, for findings.
    pub(super) why: &'static str,
    pub(super) lines: Vec<Vec<u8>>,
    /// The ids of requests that the server must answer.
    pub(super) must_answer: Vec<Value>,
    /// The ids of requests that the server need not answer. `null` stands for errors about a message whose id cannot be read.
    pub(super) may_answer: Vec<Value>,
    pub(super) expected: Expected,
    /// The request, if the command `request` can send it.
    pub(super) request: Option<(String, Option<Value>)>,
    /// Whether the client does not read for a while after it has sent the lines.
    pub(super) reads_late: bool,
    /// Whether the server is in an unusual state afterwards, and must be started again.
    pub(super) needs_restart: bool,
}

/// Which answers to the requests of a check are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Expected {
    Anything,
    /// A result. Anything else breaks a MUST.
    Result,
    /// An error. A result breaks a MUST.
    Error,
    /// An error with this code. A result or another code breaks a SHOULD.
    Code(i64),
}

/// Creates checks for one server.
pub(super) struct Checks<'a> {
    peer: &'a Peer,
    next_id: u64,
    made: Vec<Check>,
}

const RESPONSES: &str =
    "JSON-RPC 2.0, section 5, and basic, \"Responses\": each request must be answered, with the id of the request";
const NOTIFICATIONS: &str = "basic, \"Notifications\": the receiver must not send a response";
const ALIVE: &str = "a server that ends or hangs after one bad message is lost for all others; basic, \"Messages\", refers to JSON-RPC 2.0, section 5.1: such messages are errors";
const CANCELLATION: &str =
    "basic, \"Cancellation\": invalid cancellations should be ignored, and both sides must handle races gracefully";
const PAGINATION: &str = "server, \"Pagination\": invalid cursors should result in the error -32602";
const UNKNOWN_METHOD: &str = "JSON-RPC 2.0, section 5.1: the error for a method that does not exist is -32601";
const INVALID_PARAMS: &str = "JSON-RPC 2.0, section 5.1: the error for invalid parameters is -32602";

impl<'a> Checks<'a> {
    /// Creates the checks for a server. `call` are the parameters of a call that the test may make.
    pub(super) fn of(peer: &'a Peer, call: Option<&Value>) -> Vec<Check> {
        let mut checks = Checks { peer, next_id: FIRST_ID, made: Vec::new() };
        checks.requests();
        checks.lists_and_names(call);
        checks.calls(call);
        checks.notifications();
        checks.broken_lines();
        checks.many_at_once();
        checks.made
    }

    fn server(&self) -> &'a ServerInfo {
        &self.peer.server
    }

    fn has(&self, capability: impl Fn(&ServerCapabilities) -> bool) -> bool {
        self.server().capabilities.as_ref().is_some_and(capability)
    }

    fn new_id(&mut self) -> Value {
        self.next_id += 1;
        self.next_id.into()
    }

    fn add(&mut self, check: Check) {
        self.made.push(check);
    }

    /// Adds a request that the server must answer.
    fn request(
        &mut self,
        name: &'static str,
        method: &str,
        params: Option<Value>,
        expected: Expected,
        why: &'static str,
    ) {
        let id = self.new_id();
        let lines = vec![self.peer.request_line(&id, method, params.clone())];
        let request = Some((method.to_owned(), params));
        self.add(Check { must_answer: vec![id], expected, request, ..check(name, why, lines) });
    }

    /// Adds a sign of life with this id.
    fn with_id(&mut self, name: &'static str, id: Value) {
        let lines = vec![self.peer.request_line(&id, self.peer.sign_of_life(), None)];
        self.add(Check { must_answer: vec![id], expected: Expected::Result, ..check(name, RESPONSES, lines) });
    }

    /// Adds lines that are no message of the protocol. The server may answer with an error, or ignore them.
    fn broken(&mut self, name: &'static str, line: impl Into<Vec<u8>>) {
        let id = self.next_id.into();
        self.add(Check { may_answer: vec![Value::Null, id], ..check(name, ALIVE, vec![line.into()]) });
    }

    fn requests(&mut self) {
        let sign_of_life = self.peer.sign_of_life();
        self.request("a sign of life", sign_of_life, None, Expected::Result, RESPONSES);
        self.request("an unknown method", "mcpwire/unknown", None, Expected::Code(-32601), UNKNOWN_METHOD);
        self.with_id("an id that is a text", "mcpwire-1".into());
        self.with_id("an id that looks like a number", "7".into());
        self.with_id("a negative id", json!(-1));
        self.with_id("a large id", json!((1_u64 << 53) - 1));
        if self.server().era == Era::Modern {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "1900-01-01"});
            let why = "basic, \"Versioning\": an unsupported revision must be answered with the error -32022";
            self.request("an unknown revision", "server/discover", Some(json!({"_meta": meta})), Expected::Error, why);
            // The command `request` sets the revision itself.
            if let Some(last) = self.made.last_mut() {
                last.request = None;
            }
        } else {
            let client = json!({"name": "mcpwire-test", "version": "1"});
            let version = self.server().protocol_version.as_str();
            let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
            self.request("a second initialize", "initialize", Some(params), Expected::Anything, RESPONSES);
            if let Some(last) = self.made.last_mut() {
                (last.needs_restart, last.request) = (true, None);
            }
        }
    }

    fn lists_and_names(&mut self, call: Option<&Value>) {
        let cursor = || Some(json!({"cursor": "mcpwire-unknown"}));
        let invalid = Expected::Code(-32602);
        if self.has(|server| server.tools.is_some()) {
            self.request("a wrong cursor of tools/list", "tools/list", cursor(), invalid, PAGINATION);
            let why = "server, \"Tools\", \"Error Handling\": an unknown tool is a JSON-RPC error";
            let unknown = json!({"name": "mcpwire_unknown", "arguments": {}});
            self.request("an unknown tool", "tools/call", Some(unknown), invalid, why);
            self.request("tools/call without params", "tools/call", None, invalid, INVALID_PARAMS);
            self.request(
                "tools/call without a name",
                "tools/call",
                Some(json!({"arguments": {}})),
                invalid,
                INVALID_PARAMS,
            );
            self.request(
                "a tool whose name is a number",
                "tools/call",
                Some(json!({"name": 7})),
                invalid,
                INVALID_PARAMS,
            );
            if let Some(name) = call.and_then(|call| call.get("name")) {
                for (check, arguments) in
                    [("arguments that are a text", json!("text")), ("arguments that are a list", json!([1]))]
                {
                    let params = json!({"name": name, "arguments": arguments});
                    self.request(check, "tools/call", Some(params), invalid, INVALID_PARAMS);
                }
            }
        }
        if self.has(|server| server.resources.is_some()) {
            self.request("a wrong cursor of resources/list", "resources/list", cursor(), invalid, PAGINATION);
            let (expected, why) = match self.server().era {
                Era::Modern => (
                    Expected::Error,
                    "server, \"Resources\", \"Error Handling\": it must be answered with the error -32602",
                ),
                Era::Legacy => (
                    Expected::Code(-32002),
                    "server, \"Resources\", \"Error Handling\": it should be answered with the error -32002",
                ),
            };
            let uri = json!({"uri": "mcpwire-unknown:///nothing"});
            self.request("an unknown resource", "resources/read", Some(uri), expected, why);
        }
        if self.has(|server| server.prompts.is_some()) {
            self.request("a wrong cursor of prompts/list", "prompts/list", cursor(), invalid, PAGINATION);
            let why = "server, \"Prompts\", \"Error Handling\": it should be answered with the error -32602";
            self.request("an unknown prompt", "prompts/get", Some(json!({"name": "mcpwire_unknown"})), invalid, why);
        }
        if self.server().era == Era::Legacy && self.has(|server| server.logging.is_some()) {
            let why = "server, \"Logging\", \"Error Handling\": it should be answered with the error -32602";
            self.request("an unknown log level", "logging/setLevel", Some(json!({"level": "mcpwire"})), invalid, why);
        }
    }

    /// Adds calls that run while something else happens.
    fn calls(&mut self, call: Option<&Value>) {
        let Some(call) = call else { return };
        let (id, life) = (self.new_id(), self.new_id());
        let sign_of_life = self.peer.request_line(&life, self.peer.sign_of_life(), None);
        let lines = vec![self.peer.request_line(&id, "tools/call", Some(call.clone())), sign_of_life];
        self.add(Check { must_answer: vec![life, id], ..check("a sign of life during a call", RESPONSES, lines) });
        let id = self.new_id();
        let cancel = notification("notifications/cancelled", &json!({"requestId": id, "reason": "a test"}));
        let lines = vec![self.peer.request_line(&id, "tools/call", Some(call.clone())), cancel];
        self.add(Check { may_answer: vec![id], ..check("a call that is cancelled", CANCELLATION, lines) });
    }

    fn notifications(&mut self) {
        let progress = json!({"progressToken": "mcpwire-unknown", "progress": 1});
        for (name, method, params, why) in [
            ("an unknown notification", "notifications/mcpwire", json!({}), NOTIFICATIONS),
            (
                "the cancellation of an unknown request",
                "notifications/cancelled",
                json!({"requestId": 1}),
                CANCELLATION,
            ),
            ("a cancellation without an id", "notifications/cancelled", json!({}), CANCELLATION),
            ("progress of an unknown request", "notifications/progress", progress, NOTIFICATIONS),
        ] {
            self.add(check(name, why, vec![notification(method, &params)]));
        }
        let response = json!({"jsonrpc": "2.0", "id": 7, "result": {}}).to_string();
        // A server may report it as an error without an id.
        self.add(Check {
            may_answer: vec![Value::Null],
            ..check("a response to no request", ALIVE, vec![response.into()])
        });
    }

    fn broken_lines(&mut self) {
        self.broken("a line that is not JSON", "mcpwire");
        self.broken("a line that ends early", r#"{"jsonrpc":"2.0","id":1,"#);
        self.broken("a line that is not UTF-8", *b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}");
        self.broken("an empty line", "");
        self.broken("a line that is a number", "42");
        self.broken("a line that is an empty object", "{}");
        let id = self.new_id();
        self.broken("a request without jsonrpc", json!({"id": id, "method": self.peer.sign_of_life()}).to_string());
        self.broken("a request whose id is null", json!({"jsonrpc": "2.0", "id": null, "method": "ping"}).to_string());
        self.broken(
            "a request whose id is an object",
            json!({"jsonrpc": "2.0", "id": {}, "method": "ping"}).to_string(),
        );
        let id = self.new_id();
        self.broken("a request whose method is a number", json!({"jsonrpc": "2.0", "id": id, "method": 7}).to_string());
        for (name, params) in [("params that are a text", json!("text")), ("params that are a list", json!([1]))] {
            let id = self.new_id();
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params});
            self.broken(name, line.to_string());
        }
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        self.broken("a line that is very deep", deep);
    }

    fn many_at_once(&mut self) {
        let (first, second) = (self.new_id(), self.new_id());
        let line = |id: &Value| self.peer.request_line(id, self.peer.sign_of_life(), None);
        let lines = vec![line(&first), line(&second)];
        let batch = [&b"["[..], &lines[0], b",", &lines[1], b"]"].concat();
        let ids = vec![first, second];
        self.add(Check {
            must_answer: ids.clone(),
            expected: Expected::Result,
            ..check("two requests in one write", RESPONSES, lines)
        });
        self.add(if self.server().protocol_version == ProtocolVersion::V2025_03_26 {
            let why = "basic, \"Batching\": servers must support receiving batches";
            Check { must_answer: ids, ..check("a batch", why, vec![batch]) }
        } else {
            Check { may_answer: [ids, vec![Value::Null]].concat(), ..check("a batch", ALIVE, vec![batch]) }
        });
        let id = self.new_id();
        let lines = vec![self.long_line(&id, LONG_LINE)];
        self.add(Check { must_answer: vec![id], ..check(LONG_LINE_CHECK, RESPONSES, lines) });
        let method = if self.has(|server| server.tools.is_some()) { "tools/list" } else { self.peer.sign_of_life() };
        let ids: Vec<Value> = (0..UNREAD).map(|_| self.new_id()).collect();
        let lines = ids.iter().map(|id| self.peer.request_line(id, method, None)).collect();
        let why = "the answers of a client that reads slowly must wait, and none may be lost: JSON-RPC 2.0, section 5";
        self.add(Check { must_answer: ids, reads_late: true, ..check("a client that reads late", why, lines) });
    }

    fn long_line(&self, id: &Value, length: usize) -> Vec<u8> {
        long_line(self.peer, id, length)
    }
}

/// The name of the check whose line can be made shorter.
pub(super) const LONG_LINE_CHECK: &str = "a very long line";

/// Returns a sign of life with a member of `_meta` that has this length.
pub(super) fn long_line(peer: &Peer, id: &Value, length: usize) -> Vec<u8> {
    let meta = json!({"com.example/padding": "0".repeat(length)});
    peer.request_line(id, peer.sign_of_life(), Some(json!({"_meta": meta})))
}

fn check(name: &'static str, why: &'static str, lines: Vec<Vec<u8>>) -> Check {
    Check {
        name,
        why,
        lines,
        must_answer: Vec::new(),
        may_answer: Vec::new(),
        expected: Expected::Anything,
        request: None,
        reads_late: false,
        needs_restart: false,
    }
}

fn notification(method: &str, params: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string().into_bytes()
}
