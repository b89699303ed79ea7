//! Clients on servers with one habit each, good or bad; nearly all of it on every adapter.
//!
//! All are one program, which is linked once. What measures the process that it runs in has a program of its own beside this.

mod callbacks;
mod contract;
mod few_functions_to_a_write;
mod generated_modules;
mod handlers;
mod listings;
mod many_callers;
mod matrix;
mod notifications;
mod observers;
mod opening;
mod panics;
mod requests_in_the_background;
mod results_match_their_schemas;
mod shutdown;
#[cfg(unix)]
mod streams;
mod ten_programs;
mod tool_clients;
mod traces;
mod vocabulary;

use mcpwire_blocking as blocking;
use mcpwire_driver::McpClient;
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{Server, server};

/// Runs a program with an async client of a server with this habit.
fn with_client<H: Host>(habit: &str, program: impl AsyncFnOnce(McpClient<H::Runtime>)) {
    let server = server!(habit);
    server.open::<Async<H>>().run(program);
}

/// Opens a blocking client of a server with this habit.
fn open_blocking(habit: &str) -> (Server, blocking::McpClient) {
    let server = server!(habit);
    let client = blocking::McpClient::connect_and_initialize(&server.def).expect("it answers");
    (server, client)
}
