//! The hub with real processes. The servers are this test program: see `server.rs`.
#![cfg(target_os = "linux")]

mod callbacks;
mod configuration;
mod in_process;
mod lifecycle;
mod one_language;
mod required;
mod secrets;
mod server;
mod support;
mod tools;
mod worker;
