//! The names that the session gives to requests and subscriptions.

/// Names a request for as long as its session lives. It is not the id on the wire: the engine may send a request again under
/// another id, and the key stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(pub(crate) u64);

/// Names a request of the server for as long as the session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskKey(pub(super) u64);

/// Names a subscription for as long as its session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionKey(pub(super) u64);
