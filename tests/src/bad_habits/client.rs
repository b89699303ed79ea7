//! What a server may expect of its client: no client gets away with a request that the protocol does not allow.

use crate::json::Raw;
use crate::wire::Message;

/// The client, as far as it has shown itself.
#[derive(Default)]
pub(crate) struct Client {
    initialized: bool,
    /// Nothing has been asked yet: any id will do, 0 too.
    last_id: Option<usize>,
}

impl Client {
    /// What is wrong with its next message, if anything is.
    pub(crate) fn objection(&mut self, message: &Message, modern: bool) -> Option<&'static str> {
        let method = message.method();
        if method.is_empty() || message.id() == "null" {
            self.initialized |= method == "notifications/initialized";
            return None;
        }
        let last = self.last_id;
        self.last_id = message.at(&["id"]).and_then(Raw::number).or(last);
        let lacks = |path: &[&str]| message.at(path).is_none();
        if message.at(&["jsonrpc"]).map(Raw::text) != Some("2.0") {
            Some("a request must say that it is JSON-RPC 2.0")
        } else if self.last_id <= last {
            Some("ids must be numbers that grow")
        } else if method == "initialize" {
            let incomplete = lacks(&["params", "protocolVersion"])
                || lacks(&["params", "capabilities"])
                || lacks(&["params", "clientInfo", "name"]);
            incomplete.then_some("initialize must say who asks, for which version, and what it can do")
        } else if modern {
            let incomplete = lacks(&["params", "_meta", "io.modelcontextprotocol/protocolVersion"])
                || lacks(&["params", "_meta", "io.modelcontextprotocol/clientCapabilities"]);
            incomplete.then_some("each request must carry its version and capabilities")
        } else {
            let early = !self.initialized && !matches!(method, "server/discover" | "ping");
            early.then_some("notifications/initialized must come first")
        }
    }
}
