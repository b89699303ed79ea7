//! Servers whose list of tools is not what it should be.

use crate::json::Raw;
use crate::server::{self, Manners};
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
