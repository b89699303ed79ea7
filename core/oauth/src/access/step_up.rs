//! [`StepUpLimit`]: limits repeated logins for a server that keeps asking for more scopes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Counts the authorization requests for each operation of each server (basic/authorization, "Step-Up Authorization
/// Flow").
///
/// If a server refuses an operation repeatedly, the user has to log in at most [`StepUpLimit::MAX_REQUESTS`] times.
#[derive(Clone, Debug, Default)]
pub struct StepUpLimit {
    /// The counted operations, oldest first. At most [`StepUpLimit::MAX_OPERATIONS`].
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    resource: String,
    operation: String,
    requests: u8,
}

impl StepUpLimit {
    /// Maximum number of authorization requests for one operation until it succeeds, including the first login.
    pub const MAX_REQUESTS: u8 = 3;
    /// Maximum number of operations that are counted. If there are more, the oldest count is removed.
    pub const MAX_OPERATIONS: usize = 256;

    /// Creates a counter without any counted operations.
    pub const fn new() -> Self {
        StepUpLimit { entries: Vec::new() }
    }

    /// Counts an authorization request for an operation. Returns `false` if the operation already had
    /// [`StepUpLimit::MAX_REQUESTS`] requests. Its refusal is then permanent.
    pub fn try_request(&mut self, resource: &str, operation: &str) -> bool {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.is_for(resource, operation)) {
            let is_allowed = entry.requests < StepUpLimit::MAX_REQUESTS;
            entry.requests += u8::from(is_allowed);
            return is_allowed;
        }
        if self.entries.len() >= StepUpLimit::MAX_OPERATIONS {
            self.entries.remove(0);
        }
        self.entries.push(Entry { resource: resource.to_string(), operation: operation.to_string(), requests: 1 });
        true
    }

    /// Removes the count of an operation, because the operation succeeded.
    pub fn succeeded(&mut self, resource: &str, operation: &str) {
        self.entries.retain(|entry| !entry.is_for(resource, operation));
    }
}

impl Entry {
    fn is_for(&self, resource: &str, operation: &str) -> bool {
        self.resource == resource && self.operation == operation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn u4_an_operation_has_three_authorization_requests() {
        let mut limit = StepUpLimit::new();
        let allowed: Vec<_> = (0..6).map(|_| limit.try_request("https://a.example", "tools/call")).collect();
        assert_eq!(allowed, [true, true, true, false, false, false]);
    }

    #[test]
    fn u5_each_operation_and_resource_counts_alone() {
        let mut limit = StepUpLimit::new();
        while limit.try_request("https://a.example", "tools/call x") {}
        assert!(limit.try_request("https://a.example", "tools/call y"));
        assert!(limit.try_request("https://b.example", "tools/call x"));
        assert!(!limit.try_request("https://a.example", "tools/call x"));
    }

    #[test]
    fn u5_an_operation_that_succeeds_starts_again() {
        let mut limit = StepUpLimit::new();
        while limit.try_request("https://a.example", "tools/call") {}
        limit.succeeded("https://a.example", "tools/list");
        assert!(!limit.try_request("https://a.example", "tools/call"));
        limit.succeeded("https://a.example", "tools/call");
        assert!(limit.try_request("https://a.example", "tools/call"));
    }

    #[test]
    fn u5_the_oldest_operation_is_forgotten() {
        let mut limit = StepUpLimit::new();
        while limit.try_request("r", "first") {}
        for number in 0..StepUpLimit::MAX_OPERATIONS {
            limit.try_request("r", &format!("{number}"));
        }
        assert_eq!(limit.entries.len(), StepUpLimit::MAX_OPERATIONS);
        assert!(limit.try_request("r", "first"));
    }
}
