//! [`AuthorizationContext`]: tells connections that their requests have another authorization.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells connections when their requests have another authorization: another login, more scopes, or none. Clones are the same
/// value.
///
/// A connection then no longer uses the responses that it has cached for the old authorization (specification, revision
/// 2026-07-28: server/utilities/caching, "Cache Scope Field"). A refresh of the same login is not a change.
#[derive(Clone, Debug, Default)]
pub struct AuthorizationContext(Arc<AtomicU64>);

impl AuthorizationContext {
    /// Creates a value that has never changed.
    pub fn new() -> Self {
        AuthorizationContext::default()
    }

    /// Says that later requests have another authorization. Call it before the first of them gets its credentials.
    pub fn change(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Finds out for one connection whether its authorization has changed.
#[derive(Debug)]
pub(crate) struct ContextWatch {
    context: AuthorizationContext,
    /// The number of the last look.
    seen: u64,
}

impl ContextWatch {
    pub(crate) fn new(context: AuthorizationContext) -> Self {
        ContextWatch { seen: context.number(), context }
    }

    /// Returns whether the authorization has changed since the last look.
    pub(crate) fn has_changed(&mut self) -> bool {
        let number = self.context.number();
        std::mem::replace(&mut self.seen, number) != number
    }
}
