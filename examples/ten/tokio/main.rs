//! Ten common programs, on tokio.
//!
//! ```text
//! cargo run -p mcpwire --example ten_tokio
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

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let def = demo::server();
    connect::run(&def).await?;
    call::run(&def).await?;
    progress::run(&def).await?;
    structured::run(&def).await?;
    resources::run(&def).await?;
    elicitation::run(&def).await?;
    notifications::run(&def).await?;
    many_calls::run(&def).await?;
    errors::run(&def).await?;
    let server = HttpServer::start(&def)?;
    http::run(&server.url).await?;
    Ok(())
}
