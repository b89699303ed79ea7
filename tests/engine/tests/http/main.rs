//! The engine over HTTP, without any socket: exchanges go out, responses come in, in simulated time.

mod answers;
mod headers;
mod opening;
mod requests;
mod sessions;
mod streams;
mod subscriptions;

use mcpwire_engine_tests::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
