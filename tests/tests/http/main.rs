//! Servers that are spoken to by HTTP, over real sockets.

mod async_clients;
mod authorization;
mod blocking_client;
mod definition_settings;
mod failures;
mod floods;
mod hosts_with_several_addresses;
mod lost_sessions_on_sockets;
mod old;
mod panics_of_the_program;
mod private_answers;
mod request_hook;
mod reqwest;
mod server_floods;
mod sockets;
mod unix_sockets;

#[global_allocator]
static ALLOCATOR: mcpwire_tests::Counting = mcpwire_tests::Counting;
