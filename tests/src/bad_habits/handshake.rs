//! Servers that want something else of the handshake.

use crate::server::{Manners, discover_with, initialize_with};
use crate::wire::{Message, Wire};

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
