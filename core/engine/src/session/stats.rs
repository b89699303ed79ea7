//! [`Stats`]: counters of ignored and refused messages.

/// Counters of the messages that a session has ignored or refused, and of the requests answered from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of received messages that are not JSON-RPC or cannot be decoded. The session ignored them.
    pub invalid: u64,
    /// Number of responses that arrived after their request had ended.
    ///
    /// Also counts the server's progress notifications and cancellations that match no pending request.
    pub late: u64,
    /// Number of responses with a JSON-RPC id that this client has not used in any request.
    pub unmatched: u64,
    /// Number of requests that were answered from the cache and not sent.
    pub cached: u64,
    /// Number of requests of the server that the session itself refused or ignored, without asking the embedder.
    pub refused: u64,
}
