//! [`ToolListing`]: requests the list of tools, and stores the list.

use alloc::sync::Arc;

use super::client_state::ClientState;
use super::operation::{Operation, RequestError, Step};
use super::page_walk::PageWalk;
use super::tool_list::{CacheHints, ToolList};
use crate::session::{Calls, Reply, RequestOptions};
use crate::time::Timestamp;
use mcpwire_types::ListTools;

/// A state machine that requests all pages of the list of tools, and stores the list in [`KnownTools`](super::KnownTools).
///
/// If the server reports a change before the last page has arrived, the list is stored as stale.
pub struct ToolListing {
    walk: PageWalk<ListTools>,
    hints: Option<CacheHints>,
    /// Value of `KnownTools::changes` before the first request, to detect changes while the list is loaded. `None`
    /// before the first request.
    changes: Option<u64>,
    has_drained: bool,
}

impl ToolListing {
    /// Creates the state machine without sending a request. `options` apply to the request for each page, and their
    /// total timeout to all pages together.
    pub fn new(options: RequestOptions) -> Self {
        ToolListing { walk: PageWalk::new(options), hints: None, changes: None, has_drained: false }
    }
}

impl Operation for ToolListing {
    type Output = Arc<ToolList>;

    fn poll(
        &mut self,
        client: &mut ClientState,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<Arc<ToolList>, RequestError>> {
        let tools = &mut client.tools;
        // Let the adapter read pending notifications first: a change reported before the request does not make the
        // new list stale.
        if !core::mem::replace(&mut self.has_drained, true) {
            return Step::Drain;
        }
        let changes = *self.changes.get_or_insert(tools.changes);
        let hints = &mut self.hints;
        let step = self.walk.poll_pages(calls, now, |page| {
            let of_page = CacheHints::of(page);
            *hints = Some(hints.map_or(of_page, |hints| hints.and(of_page)));
        });
        step.map(|listed| {
            let mut list = ToolList::default();
            list.replace(listed?);
            list.set_hints(self.hints.unwrap_or_default());
            if tools.changes != changes {
                list.invalidate();
            }
            let list = Arc::new(list);
            tools.replace(Arc::clone(&list));
            Ok(list)
        })
    }

    fn receive(&mut self, reply: &mut Reply) {
        self.walk.receive(reply);
    }
}
