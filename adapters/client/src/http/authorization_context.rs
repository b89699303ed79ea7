//! [`AuthorizationContext`]: tells connections that their requests now have another authorization, such as another user.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Tells connections when their requests have another authorization: another login, more scopes, or no login anymore. Clones
/// share the same state.
///
/// After a change, a connection no longer uses the private responses that it has cached (specification, revision 2026-07-28:
/// server/utilities/caching, "Cache Scope Field"). A refresh of the token of the same login is not a change.
#[derive(Clone, Debug, Default)]
pub struct AuthorizationContext(Arc<AtomicU64>);

impl AuthorizationContext {
    /// Creates a context whose authorization has not changed yet.
    pub fn new() -> Self {
        AuthorizationContext::default()
    }

    /// Records that later requests have another authorization. Call this before the first of these requests gets its credentials.
    pub fn change(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Detects for one connection whether its authorization has changed.
#[derive(Debug)]
pub(crate) struct ContextWatch {
    context: AuthorizationContext,
    /// The number of changes at the last call of `has_changed`.
    seen: u64,
}

impl ContextWatch {
    pub(crate) fn new(context: AuthorizationContext) -> Self {
        ContextWatch { seen: context.number(), context }
    }

    /// Returns whether the authorization has changed since the last call.
    pub(crate) fn has_changed(&mut self) -> bool {
        let number = self.context.number();
        std::mem::replace(&mut self.seen, number) != number
    }
}
