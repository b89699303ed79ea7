//! Lists the tools of a server, with the arguments that each one takes.
//!
//! ```text
//! cargo run --example list_tools -- npx -y my-server
//! ```
//!
//! Without a server, it starts the demo server of this workspace.

use std::error::Error;
use std::time::Duration;

use mcpwire_blocking::core::{Tool, printable};
use mcpwire_blocking::{EnvPolicy, McpClient, McpServerDef};
use serde_json::Value;

const DEMO_SERVER: [&str; 8] = ["cargo", "run", "--quiet", "--release", "--package", "mcpwire", "--", "demo-server"];

fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let def = match command.split_first() {
        Some((program, arguments)) => McpServerDef::new(program).args(arguments.iter().cloned()),
        // Cargo wants its whole environment, and may have to build the server first.
        None => McpServerDef::new(DEMO_SERVER[0])
            .args(DEMO_SERVER[1..].iter().copied())
            .env_policy(EnvPolicy::Inherit)
            .connect_timeout(Duration::from_secs(600)),
    };

    // Starts the server, finds out which revision of the protocol it speaks, and lists its tools, all pages of them.
    let client = McpClient::connect_and_initialize(&def)?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in client.tools() {
        // The server's words may hold control characters, which a terminal would obey.
        println!("\n{}({})", printable(&tool.name), parameters(tool)?);
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
