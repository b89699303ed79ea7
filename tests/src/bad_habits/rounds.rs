//! A server that wants input before it answers (2026-07-28, basic/patterns/mrtr). No habit is bad about that, but for what
//! some of its tools do.

use std::process;

use crate::server::{self, Manners, WellBehaved};
use crate::wire::{Message, Wire};

/// Keeps nothing between the rounds: which one it is stands in the state that the client sends back.
pub(crate) struct Rounds;

const ROOTS: &str = r#""where":{"method":"roots/list"}"#;
const NAME: &str = r#""who":{"method":"elicitation/create","params":{"mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}"#;

/// In a dress that no other writer of JSON would choose.
const STATE: &str = r#""\u0074wo \/ \"half\" \ud83d\ude00 ä""#;

const TOOLS: &str = r#"{"name":"interview","inputSchema":{"type":"object"}}"#;

impl Manners for Rounds {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, &format!("{TOOLS},{}", server::TOOLS));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let state = request.at(&["params", "requestState"]).map(|state| state.0);
        match (request.tool(), state) {
            ("interview" | "leaves" | "dies", None) => wants(wire, request, &format!("{ROOTS},{NAME}"), Some(STATE)),
            ("interview", Some(STATE)) => {
                let given = server::escape(answers(request));
                wants(wire, request, NAME, Some(&format!("\"{given}\"")));
            }
            ("interview", Some(given)) => {
                let given = given.trim_matches('"');
                wire.text(request, &format!("{given} then {}", server::escape(answers(request))));
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

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        let given = message.at(&["params", "inputResponses", "where", "roots"]);
        match message.method() {
            "prompts/get" | "resources/read" if given.is_none() => wants(wire, message, ROOTS, None),
            "prompts/get" => {
                wire.result(message, r#""messages":[{"role":"user","content":{"type":"text","text":"prompted"}}]"#);
            }
            "resources/read" => {
                wire.result(message, r#""contents":[{"uri":"a:b","text":"read"}],"ttlMs":0,"cacheScope":"private""#);
            }
            _ => WellBehaved.other(wire, message),
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

fn answers(request: &Message) -> &str {
    request.at(&["params", "inputResponses"]).map_or("nothing", |answers| answers.0)
}

/// A mebibyte.
fn large() -> String {
    format!("\"{}\"", r"\u00e4\/\n\ud83d\ude00\\ ".repeat((1 << 20) / 25))
}
