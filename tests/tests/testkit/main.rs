//! The server in memory that programs test themselves with.

mod asks;
mod http;
mod on_runtimes;
mod script;
mod streams;
mod time;
