//! Lists the tools of a server, with the arguments that each one takes.
//!
//! ```text
//! cargo run --example list_tools -- npx -y my-server
//! ```
//!
//! Without a server, the program starts the demo server.

mod demo;

use std::error::Error;

use mcpwire::McpServerDef;
use mcpwire::Tool;
use mcpwire::blocking::open;
use mcpwire::types::printable;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let def = match command.split_first() {
        Some((program, arguments)) => McpServerDef::new(program).args(arguments.iter().cloned()),
        None => demo::server(),
    };

    // Starts the server, negotiates the protocol version, and requests all pages of the tool list.
    let client = open(&def).wait()?;
    if let Some(server) = client.server_info() {
        println!("{}, MCP {}", printable(server.name()), server.protocol_version);
    }
    for tool in client.tools() {
        // Removes control characters, because the server is not trusted.
        println!("\n{}({})", printable(&tool.name), parameters(&tool)?);
        if let Some(description) = &tool.description {
            println!("    {}", printable(description));
        }
    }
    // Invalid entries do not affect the others.
    for rejected in client.rejected_tools() {
        println!("\nleft out: {rejected}");
    }
    client.shutdown()?;
    Ok(())
}

/// Returns the names of a tool's arguments. The schema is raw JSON, which the program decodes.
fn parameters(tool: &Tool) -> Result<String, Box<dyn Error>> {
    let schema: Value = tool.input_schema.decode()?;
    let names = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    Ok(names.map(|name| printable(name).to_string()).collect::<Vec<_>>().join(", "))
}
