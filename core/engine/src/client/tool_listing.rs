//! [`ToolListing`]: requests the list of tools, and stores it.

use alloc::sync::Arc;

use super::known_tools::KnownTools;
use super::page_walk::PageWalk;
use super::step::{RequestError, Step};
use super::tool_list::{CacheHints, ToolList};
use crate::method::ListTools;
use crate::session::{Calls, Config, Reply, RequestOptions};
use crate::time::Timestamp;

/// Requests all pages of the list of tools, and stores the list in [`KnownTools`].
///
/// If the server reports a change in the meantime, the list is stored as stale.
#[derive(Debug)]
pub struct ToolListing {
    walk: PageWalk<ListTools>,
    hints: Option<CacheHints>,
    /// The value of [`KnownTools::changes`] before the first request.
    changes: Option<u64>,
    has_drained: bool,
}

impl ToolListing {
    /// Prepares to list the tools. The first request is sent by [`Self::poll`].
    pub fn new(options: RequestOptions, config: &Config, now: Timestamp) -> Self {
        let walk = PageWalk::new(options, config, now);
        ToolListing { walk, hints: None, changes: None, has_drained: false }
    }

    /// Takes the next step.
    pub fn poll(
        &mut self,
        tools: &mut KnownTools,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Step<Result<Arc<ToolList>, RequestError>> {
        // A change that the server reported before the request is already in the list.
        if !core::mem::replace(&mut self.has_drained, true) {
            return Step::Drain;
        }
        let changes = *self.changes.get_or_insert(tools.changes());
        match self.walk.poll(calls, now) {
            Step::Wait(key) => Step::Wait(key),
            Step::Drain => Step::Drain,
            Step::Done(Err(error)) => Step::Done(Err(error)),
            Step::Done(Ok(listed)) => {
                let mut list = ToolList::default();
                list.replace(listed);
                list.set_hints(self.hints.unwrap_or_default());
                if tools.changes() != changes {
                    list.invalidate();
                }
                let list = Arc::new(list);
                tools.replace(Arc::clone(&list));
                Step::Done(Ok(list))
            }
        }
    }

    /// Decodes the reply that [`Self::poll`] waits for.
    pub fn receive(&mut self, reply: &mut Reply) {
        let hints = &mut self.hints;
        self.walk.receive_with(reply, |page| {
            let of_page = CacheHints::of(page);
            *hints = Some(hints.map_or(of_page, |hints| hints.and(of_page)));
        });
    }
}
