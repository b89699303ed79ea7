//! [`Stats`]: the numbers of ignored and refused messages.

/// The numbers of messages that a session ignored, refused or took from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of messages that are not JSON-RPC or cannot be read.
    pub invalid: u64,
    /// Number of responses to requests that had ended already.
    pub late: u64,
    /// Number of responses to requests that were never sent.
    pub unmatched: u64,
    /// Number of requests that were answered from the cache.
    pub cached: u64,
    /// Number of requests of the server that were refused.
    pub refused: u64,
}
