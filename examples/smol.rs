//! A client on smol: starts a server, lists its tools, calls one, ends the server.
//!
//! ```text
//! cargo run --example smol
//! ```
//!
//! `mcpwire-smol` also works on any other executor, because a background thread drives the connections.

mod demo;

use std::error::Error;
use std::time::Duration;

use mcpwire::smol::open;
use mcpwire::types::printable;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    // Starts the server, negotiates the protocol version, and lists the tools.
    let client = open(demo::server()).await?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in &client.tools() {
        println!("  {}: {}", printable(&tool.name), printable(tool.description.as_deref().unwrap_or_default()));
    }

    // Awaiting the call sends it. Its options are set before.
    let result = client.call_tool("add", json!({"a": 2, "b": 40})).timeout(Duration::from_secs(10)).await?;
    println!("2 + 40 = {}", result.text());

    // Ends the server step by step. Dropping the client kills the server.
    let report = client.shutdown().await?;
    if let Some(exit) = report.exit {
        println!("the server ended: {exit}");
    }
    Ok(())
}
