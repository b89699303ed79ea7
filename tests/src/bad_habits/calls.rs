//! Servers that gather calls, ask their clients for something, or make tasks of calls.

use std::process;

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire, content};

/// Keeps the calls of `wait`, each of which brings a message. The call of `answer` has them answered with their messages,
/// in an order that has nothing to do with the one in which they came, and is answered last; it waits itself until there
/// have been `waits` of them, and `cancelled` of them were cancelled. `tally` tells both numbers, and `die` is the end.
#[derive(Default)]
pub(crate) struct Gathers {
    /// The ids and messages of those that are neither answered nor cancelled.
    waiting: Vec<(String, String)>,
    waits: usize,
    cancelled: usize,
    /// The call of `answer` that waits.
    answer: Option<Message>,
}

impl Gathers {
    fn answer_if_due(&mut self, wire: &mut Wire) {
        let wanted = |name| self.answer.as_ref()?.argument(name).and_then(Raw::number);
        if wanted("waits").is_some_and(|waits| self.waits < waits)
            || wanted("cancelled").is_some_and(|cancelled| self.cancelled < cancelled)
        {
            return;
        }
        let Some(answer) = self.answer.take() else { return };
        shuffle(&mut self.waiting);
        for (id, message) in self.waiting.drain(..) {
            let result = wire.object(&content(&message));
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        wire.text(&answer, "all are answered");
    }
}

const GATHERING: &str = r#"
    {"name":"wait","inputSchema":{"type":"object"}},
    {"name":"answer","inputSchema":{"type":"object"}},
    {"name":"tally","inputSchema":{"type":"object"}},
    {"name":"die","inputSchema":{"type":"object"}}
"#;

impl Manners for Gathers {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, &format!("{GATHERING},{}", server::TOOLS));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "wait" => {
                let message = request.argument("message").map_or("", Raw::text);
                self.waiting.push((request.id().to_owned(), message.to_owned()));
                self.waits += 1;
                self.answer_if_due(wire);
            }
            "answer" => {
                self.answer = Some(request.clone());
                self.answer_if_due(wire);
            }
            "tally" => wire.text(request, &format!("{} waits, {} cancelled", self.waits, self.cancelled)),
            "die" => {
                eprintln!("bad-habits: they are too many");
                process::exit(7);
            }
            _ => server::call_tool(wire, request),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        if message.method() == "notifications/cancelled" {
            let cancelled = message.at(&["params", "requestId"]).map(|id| id.0);
            let before = self.waiting.len();
            self.waiting.retain(|(id, _)| Some(id.as_str()) != cancelled);
            self.cancelled += before - self.waiting.len();
            self.answer_if_due(wire);
        } else {
            server::WellBehaved.other(wire, message);
        }
    }
}

/// The same disorder in every run: a stride through all places that meets each once.
fn shuffle<T>(items: &mut Vec<T>) {
    const STRIDE: usize = 7919;
    let count = items.len();
    let mut places: Vec<Option<T>> = items.drain(..).map(Some).collect();
    // A prime that does not divide the count leads everywhere.
    items.extend((1..=count).filter_map(|step| places[step * STRIDE % count].take()));
    items.extend(places.into_iter().flatten());
}

// Requests of the server.

/// The ids are those that the client itself may use: that of the call, its neighbours, and the same as strings. The
/// answer to the call `ask` tells what the client answered to each; `answered` tells how many answers came afterwards.
/// The call `ask_for` asks for a method of its arguments, and tells what came of it; `roots_changed`, how often the client
/// said so. A modern server may not ask, and gets no answers to wait for.
#[derive(Default)]
pub(crate) struct Asks {
    answered: usize,
    roots_changed: usize,
}

impl Manners for Asks {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "ask" => {
                let id = request.id();
                let asks = [
                    (id.to_owned(), "ping"),
                    (format!(r#""{id}""#), "roots/list"),
                    ("0".to_owned(), "vendor/never-heard-of"),
                ];
                for (id, method) in &asks {
                    wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
                }
                let told = if wire.modern { vec!["asked".to_owned()] } else { answers(wire, &asks) };
                wire.text(request, &told.join("; "));
            }
            "ask_for" => {
                let method = request.argument("method").map_or("", Raw::text);
                let params = request.argument("params").map_or("{}", |params| params.0);
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#));
                let told = answer_to_q(wire);
                wire.text(request, &server::escape(&told));
            }
            "answered" => wire.text(request, &self.answered.to_string()),
            "roots_changed" => wire.text(request, &self.roots_changed.to_string()),
            _ => server::call_tool(wire, request),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        match message.method() {
            "" => self.answered += 1,
            "notifications/roots/list_changed" => self.roots_changed += 1,
            _ => server::WellBehaved.other(wire, message),
        }
    }
}

/// The client's answer to the request `q`: its result or error as JSON. Other calls are served meanwhile; that of `give_up`
/// takes the request back.
fn answer_to_q(wire: &mut Wire) -> String {
    while let Some(message) = wire.receive() {
        match (message.method(), message.id()) {
            ("", r#""q""#) => {
                let said = message.at(&["result"]).or_else(|| message.at(&["error"]));
                return said.map_or("neither result nor error", |said| said.0).to_owned();
            }
            ("tools/call", _) if message.tool() == "give_up" => {
                wire.notify("notifications/cancelled", r#""requestId":"q","reason":"no need""#);
                wire.text(&message, "given up");
                return "given up".to_owned();
            }
            ("tools/call", _) => server::call_tool(wire, &message),
            _ => {}
        }
    }
    "the end".to_owned()
}

/// Reads until each is answered.
fn answers(wire: &mut Wire, asks: &[(String, &str)]) -> Vec<String> {
    let mut told = vec![String::new(); asks.len()];
    while told.iter().any(String::is_empty) {
        let Some(message) = wire.receive() else { break };
        let place = asks.iter().position(|(id, _)| message.method().is_empty() && message.id() == id);
        if let Some(place) = place {
            told[place] = format!("{}: {}", asks[place].1, describe(&message));
        }
    }
    told
}

fn describe(answer: &Message) -> String {
    match (answer.at(&["result"]), answer.at(&["error", "code"])) {
        (Some(_), None) => "result".to_owned(),
        (None, Some(code)) => format!("error {}", code.0),
        _ => "neither result nor error".to_owned(),
    }
}

// Input before the answer (2026-07-28, basic/patterns/mrtr). No habit is bad about that, but for what some of the tools do.

/// Keeps nothing between the rounds: which one it is stands in the state that the client sends back.
pub(crate) struct Rounds;

const ROOTS: &str = r#""where":{"method":"roots/list"}"#;
const NAME: &str = r#""who":{"method":"elicitation/create","params":{"mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}"#;

/// In a dress that no other writer of JSON would choose.
const STATE: &str = r#""\u0074wo \/ \"half\" \ud83d\ude00 ä""#;

const INTERVIEW: &str = r#"{"name":"interview","inputSchema":{"type":"object"}}"#;

impl Manners for Rounds {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, &format!("{INTERVIEW},{}", server::TOOLS));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let state = request.at(&["params", "requestState"]).map(|state| state.0);
        match (request.tool(), state) {
            ("interview" | "leaves" | "dies", None) => wants(wire, request, &format!("{ROOTS},{NAME}"), Some(STATE)),
            ("interview", Some(STATE)) => {
                let given = server::escape(answers_given(request));
                wants(wire, request, NAME, Some(&format!("\"{given}\"")));
            }
            ("interview", Some(given)) => {
                let given = given.trim_matches('"');
                wire.text(request, &format!("{given} then {}", server::escape(answers_given(request))));
            }
            // Its client hears nothing more of it.
            ("leaves", Some(_)) => eprintln!("bad-habits: let me think"),
            ("dies", Some(_)) => process::exit(3),
            ("large-state", None) => wants(wire, request, ROOTS, Some(&large())),
            ("large-state", Some(state)) => {
                let same = if state == large() { "it is the same" } else { "it is another" };
                wire.text(request, same);
            }
            ("endless", _) => {
                let id = request.id();
                wants(wire, request, "", Some(&format!("\"{id}\"")));
            }
            ("asks-and-dies", _) => {
                wants(wire, request, ROOTS, None);
                process::exit(3);
            }
            ("asks-too-much", _) => {
                let many: Vec<String> =
                    (0..5000).map(|number| format!(r#""{number}":{{"method":"roots/list"}}"#)).collect();
                wants(wire, request, &many.join(","), None);
            }
            _ => server::call_tool(wire, request),
        }
    }
}

/// Answers that input is wanted, given by the members of `inputRequests`, and a state as it stands in JSON.
fn wants(wire: &mut Wire, request: &Message, inputs: &str, state: Option<&str>) {
    let inputs = if inputs.is_empty() { String::new() } else { format!(r#","inputRequests":{{{inputs}}}"#) };
    let state = state.map(|state| format!(r#","requestState":{state}"#)).unwrap_or_default();
    let id = request.id();
    wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required"{inputs}{state}}}}}"#));
}

fn answers_given(request: &Message) -> &str {
    request.at(&["params", "inputResponses"]).map_or("nothing", |answers| answers.0)
}

/// A mebibyte.
fn large() -> String {
    format!("\"{}\"", r"\u00e4\/\n\ud83d\ude00\\ ".repeat((1 << 20) / 25))
}

// Tasks, in both forms. A server remembers nothing: where a task is to end is in its name. So it can be asked about tasks that another
// process of it has begun.

/// The tool `job` becomes a task that is seen at work twice, and then ends as its argument `message` says: `cancelled`,
/// `failed`, or with that for a text; one that is to end `unheard` goes on for ever, and `tasks/cancel` for it is not
/// answered. No tool answers plainly to `silence`. In 2025-11-25, the tool `must` can be called so only, and `echo` cannot be.
#[derive(Default)]
pub(crate) struct Tasks {
    seen: u32,
    cancelled: bool,
}

const TIMES: &str = r#""createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z""#;

impl Manners for Tasks {
    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        if wire.modern {
            return server::initialize(wire, request);
        }
        wire.result(
            request,
            r#""protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"bad-habits","version":"1.0"}"#,
        );
    }

    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        let tool = |name: &str, support: &str| {
            format!(
                r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"execution":{{"taskSupport":"{support}"}}}}"#
            )
        };
        let tools = [tool("job", "optional"), tool("must", "required"), tool("echo", "forbidden")];
        server::list_tools(wire, request, &tools.join(","));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let end = request.argument("message").map_or("", Raw::text);
        let task = request.at(&["params", "task"]).is_some();
        match (request.tool(), wire.modern, task) {
            ("echo", false, true) => wire.error(request, -32601, "echo is no task"),
            ("must", false, false) => wire.error(request, -32601, "must is a task"),
            ("job" | "must", false, true) => {
                wire.result(request, &format!(r#""task":{{{}}}"#, state(end, "working", false)));
            }
            ("job" | "must", true, _) if has_declared(request) => {
                let id = request.id();
                let task = state(end, "working", true);
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"task",{task}}}}}"#));
            }
            _ if end == "silence" => {}
            _ => wire.text(request, end),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        let id = message.at(&["params", "taskId"]).map_or("", Raw::text);
        let Some(end) = id.strip_prefix("ends-") else {
            if message.method() == "tasks/list" {
                return wire.result(message, &format!(r#""tasks":[{{{}}}]"#, state("a", "working", false)));
            } else if message.method().starts_with("tasks/") {
                return wire.error(message, -32602, "Failed to retrieve task: Task not found");
            }
            return server::WellBehaved.other(wire, message);
        };
        let modern = wire.modern;
        if modern && !has_declared(message) {
            return wire.error(message, -32021, "Missing required client capability");
        }
        match message.method() {
            "tasks/get" => {
                self.seen += 1;
                let status = match end {
                    _ if self.cancelled => "cancelled",
                    "unheard" => "working",
                    _ if self.seen <= 2 => "working",
                    "cancelled" | "failed" => end,
                    _ => "completed",
                };
                let detail = match status {
                    "completed" if modern => format!(r#","result":{{{}}}"#, text(end)),
                    "failed" if modern => r#","error":{"code":-32099,"message":"it has failed"}"#.to_owned(),
                    _ => String::new(),
                };
                wire.result(message, &(state(end, status, modern) + &detail));
            }
            "tasks/result" if !modern && end == "failed" => wire.error(message, -32099, "it has failed"),
            "tasks/result" if !modern => wire.result(message, &text(end)),
            "tasks/cancel" if end == "unheard" => {}
            "tasks/cancel" => {
                self.cancelled = true;
                let task = if modern { String::new() } else { state(end, "cancelled", false) };
                wire.result(message, &task);
            }
            _ => server::WellBehaved.other(wire, message),
        }
    }
}

fn has_declared(request: &Message) -> bool {
    let capabilities = ["params", "_meta", "io.modelcontextprotocol/clientCapabilities"];
    let capabilities = request.at(&capabilities);
    capabilities.is_some_and(|all| all.at(&["extensions", "io.modelcontextprotocol/tasks"]).is_some())
}

fn state(end: &str, status: &str, modern: bool) -> String {
    let (ttl, interval) = if modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
    format!(
        r#""taskId":"ends-{end}","status":"{status}","statusMessage":"{status} on it",{TIMES},"{ttl}":60000,"{interval}":1"#
    )
}

fn text(text: &str) -> String {
    format!(r#""content":[{{"type":"text","text":"{text}"}}],"isError":false"#)
}
