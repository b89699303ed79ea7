//! Lists the tools of a server, with the arguments that each one takes.
//!
//! ```text
//! cargo run --example list_tools -- npx -y my-server
//! ```
//!
//! Without a server, it starts the demo server of this workspace.

mod demo;

use std::error::Error;

use mcpwire_blocking::protocol::{Tool, printable};
use mcpwire_blocking::{McpClient, McpServerDef};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let def = match command.split_first() {
        Some((program, arguments)) => McpServerDef::new(program).args(arguments.iter().cloned()),
        None => demo::server(),
    };

    // Starts the server, finds out which revision of the protocol it speaks, and lists its tools, all pages of them.
    let client = McpClient::connect_and_initialize(&def)?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in client.tools() {
        // The server's words may hold control characters, which a terminal would obey.
        println!("\n{}({})", printable(&tool.name), parameters(&tool)?);
        if let Some(description) = &tool.description {
            println!("    {}", printable(description));
        }
    }
    // One entry that is no tool does not spoil the others.
    for rejected in client.rejected_tools() {
        println!("\nleft out: {rejected}");
    }
    client.shutdown()?;
    Ok(())
}

/// The names of a tool's arguments. Its schema is kept as the JSON that the server sent, and decoded by who wants it.
fn parameters(tool: &Tool) -> Result<String, Box<dyn Error>> {
    let schema: Value = tool.input_schema.decode()?;
    let names = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    Ok(names.map(|name| printable(name).to_string()).collect::<Vec<_>>().join(", "))
}
