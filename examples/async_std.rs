//! A client on async-std: starts a server, lists its tools, calls one, ends the server.
//!
//! ```text
//! cargo run --example async_std
//! ```
//!
//! For programs that are on async-std already: `smol.rs` and `tokio.rs` are for those that have the choice.

mod demo;

use std::error::Error;
use std::time::Duration;

use mcpwire_async_std::McpClient;
use mcpwire_async_std::protocol::printable;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    async_std::task::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    // Starts the server, finds out which revision of the protocol it speaks, and lists its tools.
    let client = McpClient::connect_and_initialize(&demo::server()).await?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in &client.tools() {
        println!("  {}: {}", printable(&tool.name), printable(tool.description.as_deref().unwrap_or_default()));
    }

    // A call is sent when it is awaited. What it needs of its own is set before.
    let result = client.call_tool("add", json!({"a": 2, "b": 40})).timeout(Duration::from_secs(10)).await?;
    println!("2 + 40 = {}", result.text());

    // Politely: a client that is dropped ends its server too, but at once.
    let report = client.shutdown().await?;
    if let Some(exit) = report.exit {
        println!("the server ended: {exit}");
    }
    Ok(())
}
