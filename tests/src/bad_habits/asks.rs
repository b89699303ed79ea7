//! A server that asks its client for things in the middle of a call.

use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

/// The ids are those that the client itself may use: that of the call, its neighbours, and the same as strings. The
/// answer to the call `ask` tells what the client answered to each; `answered` tells how many answers came afterwards.
/// A modern server may not ask, and gets no answers to wait for.
#[derive(Default)]
pub(crate) struct Asks {
    answered: usize,
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
            "answered" => wire.text(request, &self.answered.to_string()),
            _ => server::call_tool(wire, request),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        if message.method().is_empty() {
            self.answered += 1;
        } else {
            server::WellBehaved.other(wire, message);
        }
    }
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
