//! A server with many calls at once.

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

const TOOLS: &str = r#"
    {"name":"wait","inputSchema":{"type":"object"}},
    {"name":"answer","inputSchema":{"type":"object"}},
    {"name":"tally","inputSchema":{"type":"object"}},
    {"name":"die","inputSchema":{"type":"object"}}
"#;

impl Manners for Gathers {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, &format!("{TOOLS},{}", server::TOOLS));
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
