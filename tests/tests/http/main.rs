//! Servers that are spoken to by HTTP, over real sockets.

mod authorization;
mod clients;
mod failures;
mod floods;
mod hosts_with_several_addresses;
#[cfg(target_os = "linux")]
mod linux;
mod lost_sessions_on_sockets;
mod settings;
mod sockets;
#[cfg(unix)]
mod unix;

#[global_allocator]
static ALLOCATOR: mcpwire_tests::Counting = mcpwire_tests::Counting;
