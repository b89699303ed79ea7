//! Connects to a server, and lists its tools.

use mcpwire::smol::open;
use mcpwire::types::printable;
use mcpwire::{Error, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    // Starts the server, and negotiates the protocol version.
    let client = open(def).await?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in &client.list_tools().await? {
        println!("  {}: {}", printable(&tool.name), printable(tool.description.as_deref().unwrap_or_default()));
    }
    // Ends the server step by step. A client that is dropped kills it.
    client.shutdown().await?;
    Ok(())
}
