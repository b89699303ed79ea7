//! Headers that the server does not agree with: its list of tools has changed (2026-07-28, basic/transports/streamable-http,
//! "Client Behavior").

use alloc::string::String;
use alloc::vec::Vec;

use super::engine::Engine;
use super::exchange::{ExchangeId, Verb};
use super::open::{Asked, Purpose};
use crate::json::scan::{member, text};
use crate::rpc::RpcError;
use crate::rpc::decode::{self, Answer};
use crate::rpc::peek::{usual_end, usual_start};
use crate::session::Fault;
use crate::types::ListParams;

/// The most pages of a list that are asked for. As many as lists of tools have anywhere, with much to spare.
const MAX_PAGES: u32 = 100;

/// A call that waits for a fresh list of tools.
#[derive(Debug)]
pub(super) struct Relist {
    pub(super) asked: Asked,
    /// What the server refused the call with.
    error: RpcError,
    /// The id of the request for the list.
    id: u64,
    pages: u32,
    next: Option<String>,
}

/// The error of a server that does not agree with the headers, if this is it.
pub(super) fn mismatch(message: &[u8], id: u64) -> Option<RpcError> {
    // Most answers are results, and most show that at once.
    if usual_start(message).is_some() || usual_end(message).is_some() {
        return None;
    }
    member(message, "error")?;
    match decode::answer_skipped(message, id) {
        Ok(Answer::Error(error)) if error.code == RpcError::HEADER_MISMATCH => Some(error),
        _ => None,
    }
}

impl Engine {
    /// A call was refused for its headers by an answer on its own exchange.
    pub(super) fn relist(&mut self, from: ExchangeId, error: RpcError) {
        let Some(Purpose::Request(asked)) = self.open.get(&from).map(|open| &open.purpose) else { return };
        let asked = Asked { repeated: true, ..asked.clone() };
        self.abort(from);
        self.list_again(asked, error);
    }

    pub(super) fn list_again(&mut self, asked: Asked, error: RpcError) {
        if asked.message.is_none() {
            return self.fail(asked.id, Fault::Server(error));
        }
        self.ask_for_page(Relist { asked, error, id: 0, pages: 0, next: None });
    }

    fn ask_for_page(&mut self, mut relist: Relist) {
        let mut message = Vec::new();
        let params = ListParams { cursor: relist.next.as_deref() };
        relist.id = self.session.write_own("tools/list", &params, &mut message);
        message.pop();
        relist.next = None;
        relist.pages += 1;
        let headers = self.message_headers("tools/list", &message);
        self.start(Purpose::Relist(alloc::boxed::Box::new(relist)), Verb::Post, headers, message, false);
    }

    /// A message on the exchange that lists tools. Its end decides what to do.
    pub(super) fn relisted(&mut self, from: ExchangeId, message: &[u8]) {
        let Some(open) = self.open.get_mut(&from) else { return };
        let Purpose::Relist(relist) = &mut open.purpose else { return };
        if member(message, "id").and_then(|id| crate::rpc::WireId(id).number()) != Some(relist.id) {
            // Something that the server tells on the way.
            return self.session.receive(message, self.now, self.out.buffer());
        }
        let tool =
            relist.asked.message.as_deref().and_then(|call| member(member(call, "params")?, "name").and_then(text));
        let found = self.tools.learn(message, Some(tool.as_deref().unwrap_or_default()));
        let next = member(message, "result").and_then(|result| member(result, "nextCursor").and_then(text));
        relist.next = next.filter(|_| !found && relist.pages < MAX_PAGES);
        if let Some(open) = self.remove(from) {
            if !open.is_over {
                // The answer is there; what else the server says on it is of no use.
                self.commands.push_back(super::exchange::Command::Abort(from));
            }
            if let Purpose::Relist(relist) = open.purpose {
                self.retry(*relist);
            }
        }
    }

    /// Sends the call once more, with the headers that it needs by now. If they are the same, it would be refused the same.
    pub(super) fn retry(&mut self, relist: Relist) {
        if relist.next.is_some() && self.session.waits_for(relist.asked.id) {
            return self.ask_for_page(relist);
        }
        let headers = relist.asked.message.as_deref().map(|call| self.mirrored(call)).unwrap_or_default();
        if headers == relist.asked.mirrored {
            self.fail(relist.asked.id, Fault::Server(relist.error));
        } else {
            self.again.push_back(relist.asked);
        }
    }
}
