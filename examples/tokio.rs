//! A client on tokio: starts a server, lists its tools, calls one, ends the server.
//!
//! ```text
//! cargo run --example tokio
//! ```
//!
//! `smol.rs` and `async_std.rs` are the same on other runtimes: what differs is the name of the crate, and `main`.

mod demo;

use std::error::Error;
use std::time::Duration;

use mcpwire_tokio::McpClient;
use mcpwire_tokio::protocol::printable;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
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
