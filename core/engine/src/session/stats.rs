//! [`Stats`]: counters of ignored and refused messages.

use serde::{Deserialize, Serialize};

/// Counters of the messages that a session has ignored or refused, and of the requests answered from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Stats {
    /// Number of received messages that are not JSON-RPC or cannot be decoded. The session ignored them.
    pub invalid: u64,
    /// Number of responses from the server that arrived after the client's request had ended.
    ///
    /// Also counts progress notifications and cancellations from the server that match no pending request.
    pub late: u64,
    /// Number of responses with a JSON-RPC id that this client has not used in any request.
    pub unmatched: u64,
    /// Number of requests that were answered from the cache and not sent.
    pub cached: u64,
    /// Number of requests of the server that the session refused or ignored without asking the embedder, for example
    /// because the embedder does not answer the method.
    pub refused: u64,
}
