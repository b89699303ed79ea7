//! The keys with which an embedder identifies requests and subscriptions.

/// Identifies a request of the client within a session.
///
/// Not a JSON-RPC id: the session may send the request several times under different ids, but the key does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

/// Identifies a request of the server, or an input that the server requires, within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

/// Identifies a subscription of the client within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(pub(super) u64);
