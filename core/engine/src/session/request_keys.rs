//! The keys by which an embedder identifies requests and subscriptions.

/// Identifies a request of the client within its session.
///
/// A key is not a JSON-RPC id. The session may send a request again under another id, and the key stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

/// Identifies a request of the server within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerRequestId(pub(super) u64);

/// Identifies a subscription within its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(pub(super) u64);
