//! Servers that are spoken to by HTTP: the exchanges in simulated time, and the adapters over real sockets.

mod answers;
mod async_clients;
mod authorization;
mod blocking_client;
mod cancel;
mod changed_authorization;
mod definition_settings;
mod failures;
mod floods;
mod headers;
mod hosts_with_several_addresses;
mod lost_sessions_on_sockets;
mod messages;
mod old;
mod opening;
mod own_stream;
mod panics_of_the_program;
mod private_answers;
mod properties;
mod request_hook;
mod reqwest;
mod server_floods;
mod sessions;
mod sockets;
mod sse_transport;
mod streams;
mod subscriptions;
mod subscriptions_of_lost_sessions;
mod unix_sockets;

#[global_allocator]
static ALLOCATOR: mcpwire_tests::Counting = mcpwire_tests::Counting;
