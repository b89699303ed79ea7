//! The engine over HTTP, without any socket: exchanges go out, responses come in, in simulated time.

mod answers;
mod cancel;
mod changed_authorization;
mod headers;
mod messages;
mod opening;
mod own_stream;
mod properties;
mod sessions;
mod sse_transport;
mod streams;
mod subscriptions;
mod subscriptions_of_lost_sessions;
