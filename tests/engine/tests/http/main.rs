//! The engine over HTTP, without any socket: exchanges go out, responses come in, in simulated time.

mod answers;
mod headers;
mod opening;
mod requests;
mod sessions;
mod streams;
mod subscriptions;
