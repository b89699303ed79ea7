//! The keys with which an embedder identifies requests and subscriptions.

/// Identifies a request of the client within a session.
///
/// The session may send the request several times, each time with another JSON-RPC id. The key stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

/// Identifies a request of the server within a session. The request is a JSON-RPC request, or an input that the server
/// requires before it continues a request or task of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

/// Identifies a subscription of the client within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(pub(super) u64);
