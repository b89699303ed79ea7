//! The hub with real processes. The servers are this test program: see `server.rs`.
#![cfg(target_os = "linux")]

mod acceptance;
mod config;
mod hooks;
mod in_process;
mod lifecycle;
mod one_language;
mod panics;
mod process_registry;
mod redefined;
mod reload;
mod required;
mod secrets;
mod secrets_everywhere;
mod server;
mod snapshot;
mod support;
mod tools;
mod worker;
