//! A server that asks its client for things in the middle of a call.

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

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
