//! The server in memory that programs test themselves with.

mod http;
mod script;
mod streams;
mod time;
