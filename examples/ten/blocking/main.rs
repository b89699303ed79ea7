//! Ten common programs, with the blocking client.
//!
//! ```text
//! cargo run -p mcpwire --example ten_blocking
//! ```
//!
//! `examples/ten` has the same programs for each client. They differ by `.await`, the import and `mut`, and two lines of
//! `many_calls`.

mod call;
mod connect;
#[path = "../../demo/mod.rs"]
mod demo;
mod elicitation;
mod errors;
mod http;
#[path = "../http_server.rs"]
mod http_server;
mod many_calls;
mod notifications;
mod progress;
mod resources;
mod structured;

use std::error::Error;

use http_server::HttpServer;

fn main() -> Result<(), Box<dyn Error>> {
    let def = demo::server();
    connect::run(&def)?;
    call::run(&def)?;
    progress::run(&def)?;
    structured::run(&def)?;
    resources::run(&def)?;
    elicitation::run(&def)?;
    notifications::run(&def)?;
    many_calls::run(&def)?;
    errors::run(&def)?;
    let server = HttpServer::start(&def)?;
    http::run(&server.url)?;
    Ok(())
}
