//! Servers with bad lists of tools, with lists that change, and of other revisions.

use crate::json::Raw;
use crate::server;
use crate::server::{Manners, discover_with, initialize_with};
use crate::wire::{Message, Wire};

/// Three good tools, and between them what other servers have been seen to send.
pub(crate) struct BadTools;

const BAD_TOOLS: &str = r#"
    {"name":"first","description":"good","inputSchema":{"type":"object"}},
    {"name":7,"description":"its name is a number","inputSchema":{"type":"object"}},
    {"description":"it has no name","inputSchema":{"type":"object"}},
    "a string",
    {"name":"schema-is-a-string","inputSchema":"object"},
    null,
    {"name":"second","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"very","title":5},"icons":"none","description":null},
    [],
    {"name":null,"inputSchema":{"type":"object"}},
    {"name":"third","title":"Third","inputSchema":{"type":"object"},"x-vendor":{"kept":true}}
"#;

impl Manners for BadTools {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, BAD_TOOLS);
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let text = format!("{} was called", request.tool());
        wire.text(request, &text);
    }
}

/// Has one tool. When it is called, it makes place for another, and the client is told.
#[derive(Default)]
pub(crate) struct ChangingTools {
    changes: usize,
}

impl ChangingTools {
    fn tool(&self) -> String {
        format!("tool-{}", self.changes)
    }
}

impl Manners for ChangingTools {
    fn ready(&mut self, wire: &mut Wire) {
        wire.notify("notifications/tools/list_changed", "");
    }

    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(
            wire,
            request,
            &format!(r#"{{"name":"{}","inputSchema":{{"type":"object"}}}}"#, self.tool()),
        );
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        if request.tool() == self.tool() {
            self.changes += 1;
            wire.notify("notifications/tools/list_changed", "");
            let text = format!("now there is {}", self.tool());
            wire.text(request, &text);
        } else {
            server::call_tool(wire, request);
        }
    }
}

/// Tools `tool-1`, `tool-2` and so on, one a page; the cursor is the number of the next.
pub(crate) struct Pages(pub(crate) usize);

impl Manners for Pages {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        let number = cursor(request).unwrap_or(1);
        let next = if number < self.0 { format!(r#","nextCursor":"{}""#, number + 1) } else { String::new() };
        page(wire, request, number, &next);
    }
}

/// The same, but the last page leads to the first.
pub(crate) struct CircularPages(pub(crate) usize);

impl Manners for CircularPages {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        let number = cursor(request).unwrap_or(1);
        page(wire, request, number, &format!(r#","nextCursor":"{}""#, number % self.0 + 1));
    }
}

/// There is always one more page.
pub(crate) struct EndlessPages;

impl Manners for EndlessPages {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        let number = cursor(request).unwrap_or(1);
        page(wire, request, number, &format!(r#","nextCursor":"{}""#, number + 1));
    }
}

fn cursor(request: &Message) -> Option<usize> {
    request.at(&["params", "cursor"]).and_then(|cursor| Raw(cursor.text()).number())
}

fn page(wire: &mut Wire, request: &Message, number: usize, next: &str) {
    let cache = if wire.modern { r#","ttlMs":0,"cacheScope":"private""# } else { "" };
    let tool = format!(r#"{{"name":"tool-{number}","inputSchema":{{"type":"object"}}}}"#);
    wire.result(request, &format!(r#""tools":[{tool}]{next}{cache}"#));
}

// Changes that are told.

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

// Revisions.

/// Revisions, separated by commas; `none` leaves the field out of the answer. A legacy server answers with the first.
pub(crate) struct Versions(pub(crate) String);

impl Versions {
    fn listed(&self) -> String {
        let quoted: Vec<String> = self.0.split(',').map(|version| format!(r#""{version}""#)).collect();
        quoted.join(",")
    }

    fn speaks(&self, version: &str) -> bool {
        self.0.split(',').any(|ours| ours == version)
    }
}

impl Manners for Versions {
    fn discover(&mut self, wire: &mut Wire, request: &Message) {
        let wanted = request
            .at(&["params", "_meta", "io.modelcontextprotocol/protocolVersion"])
            .map_or("", |wanted| wanted.text());
        if !wire.modern {
            wire.error(request, -32601, "Method not found: server/discover");
        } else if self.speaks(wanted) {
            discover_with(wire, request, &self.listed());
        } else {
            let (id, listed) = (request.id(), self.listed());
            wire.line(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"Unsupported protocol version","data":{{"supported":[{listed}],"requested":"{wanted}"}}}}}}"#
            ));
        }
    }

    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        let first = self.0.split(',').next().unwrap_or_default();
        if first == "none" {
            initialize_with(wire, request, "");
        } else {
            initialize_with(wire, request, &format!(r#""protocolVersion":"{first}","#));
        }
    }
}

pub(crate) struct Refuses;

impl Manners for Refuses {
    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        wire.error(request, -32000, "no licence was found");
    }
}
