//! A server whose lists and resources change all the time, and that tells those who asked.

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

/// Subscriptions of both eras. The tool `tell` tells a `change` to all who listen, `times` over: the last part of the
/// notification's method, with the `uri` if it is about a resource. `end` ends all subscriptions gracefully. `tally` tells
/// how many subscriptions and lists of tools were asked for, and how many subscriptions were given up.
///
/// What there is else of it says its argument: `ends` ends each subscription at once, `silent` acknowledges none.
pub(crate) struct Changes {
    pub(crate) how: String,
    /// The ids of the subscriptions; in the legacy era, the addresses.
    pub(crate) listening: Vec<String>,
    pub(crate) asked: usize,
    pub(crate) given_up: usize,
    pub(crate) lists: usize,
}

const CAPABILITIES: &str = r#""capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}"#;

impl Changes {
    pub(crate) fn new(how: String) -> Self {
        Self { how, listening: Vec::new(), asked: 0, given_up: 0, lists: 0 }
    }

    fn tell(&self, wire: &mut Wire, change: &str, uri: &str) {
        let method = format!("notifications/{change}");
        if !wire.modern {
            return wire.notify(&method, uri);
        }
        for id in &self.listening {
            let comma = if uri.is_empty() { "" } else { "," };
            wire.notify(&method, &format!(r#"{uri}{comma}"_meta":{{{}}}"#, subscription(id)));
        }
    }

    fn listen(&mut self, wire: &mut Wire, request: &Message) {
        self.asked += 1;
        if self.how == "silent" {
            return;
        }
        let wanted = request.at(&["params", "notifications"]).map_or("{}", |wanted| wanted.0);
        wire.notify(
            "notifications/subscriptions/acknowledged",
            &format!(r#""notifications":{wanted},"_meta":{{{}}}"#, subscription(request.id())),
        );
        self.listening.push(request.id().to_owned());
        if self.how == "ends" {
            self.end(wire);
        }
    }

    fn end(&mut self, wire: &mut Wire) {
        for id in self.listening.drain(..) {
            let result = wire.object(&format!(r#""_meta":{{{}}}"#, subscription(&id)));
            wire.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
    }

    fn give_up(&mut self, listening: Option<Raw<'_>>) {
        let before = self.listening.len();
        self.listening.retain(|id| Some(id.as_str()) != listening.map(|id| id.0));
        self.given_up += before - self.listening.len();
    }
}

fn subscription(id: &str) -> String {
    format!(r#""io.modelcontextprotocol/subscriptionId":{id}"#)
}

impl Manners for Changes {
    fn discover(&mut self, wire: &mut Wire, request: &Message) {
        if !wire.modern {
            return server::discover(wire, request);
        }
        wire.result(
            request,
            &format!(r#""supportedVersions":["2026-07-28"],{CAPABILITIES},"ttlMs":0,"cacheScope":"private""#),
        );
    }

    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        if wire.modern {
            return server::initialize(wire, request);
        }
        wire.result(
            request,
            &format!(
                r#""protocolVersion":"2025-11-25",{CAPABILITIES},"serverInfo":{{"name":"bad-habits","version":"1.0"}}"#
            ),
        );
    }

    /// A list that holds for an hour.
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        self.lists += 1;
        let tools =
            ["tell", "end", "tally"].map(|tool| format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object"}}}}"#));
        let cache = if wire.modern { r#","ttlMs":3600000,"cacheScope":"private""# } else { "" };
        wire.result(request, &format!(r#""tools":[{}]{cache}"#, tools.join(",")));
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "tell" => {
                let change = request.argument("change").map_or("", Raw::text);
                let uri = request.argument("uri").map_or(String::new(), |uri| format!(r#""uri":{}"#, uri.0));
                let times = request.argument("times").and_then(Raw::number).unwrap_or(1);
                (0..times).for_each(|_| self.tell(wire, change, &uri));
                wire.text(request, "told");
            }
            "end" => {
                self.end(wire);
                wire.text(request, "ended");
            }
            "tally" => {
                let Self { asked, given_up, lists, .. } = self;
                wire.text(request, &format!("{asked} asked, {given_up} given up, {lists} lists"));
            }
            _ => server::call_tool(wire, request),
        }
    }

    fn other(&mut self, wire: &mut Wire, message: &Message) {
        match (message.method(), wire.modern) {
            ("subscriptions/listen", true) => self.listen(wire, message),
            ("notifications/cancelled", true) => self.give_up(message.at(&["params", "requestId"])),
            ("resources/subscribe", false) => {
                self.asked += 1;
                if self.how != "silent" {
                    self.listening.extend(message.at(&["params", "uri"]).map(|uri| uri.0.to_owned()));
                    wire.result(message, "");
                }
            }
            ("resources/unsubscribe", false) => {
                self.give_up(message.at(&["params", "uri"]));
                wire.result(message, "");
            }
            _ => server::WellBehaved.other(wire, message),
        }
    }
}
