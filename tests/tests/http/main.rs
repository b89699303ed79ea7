//! Servers that are spoken to by HTTP, over real sockets.

mod authorization;
mod clients;
mod failures;
mod floods;
mod hosts_with_several_addresses;
mod lost_sessions_on_sockets;
mod settings;
mod sockets;

#[global_allocator]
static ALLOCATOR: mcpwire_tests::Counting = mcpwire_tests::Counting;
