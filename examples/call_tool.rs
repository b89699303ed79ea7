//! Calls a tool of a server.
//!
//! ```text
//! cargo run --example call_tool -- add '{"a": 2, "b": 3}' npx -y my-server
//! ```
//!
//! Without a server, it starts the demo server of this workspace; without anything, it adds two numbers there.

mod demo;

use std::error::Error;
use std::time::Duration;

use mcpwire_blocking::protocol::Json;
use mcpwire_blocking::{McpClient, McpServerDef};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let tool = words.next().unwrap_or_else(|| "add".into());
    let arguments = Json::parse(words.next().unwrap_or_else(|| r#"{"a": 2, "b": 3}"#.into()))?;
    let command: Vec<String> = words.collect();

    let def = match command.split_first() {
        Some((program, arguments)) => McpServerDef::new(program).args(arguments.iter().cloned()),
        None => demo::server(),
    };

    let mut client = McpClient::connect_and_initialize(&def)?;
    let result = client
        .call_tool(&tool, &arguments)
        .timeout(Duration::from_secs(120))
        .on_progress(|progress| eprintln!("{} of {:?}", progress.progress, progress.total))
        .call()?;
    // What the tool answered for people to read: the text of all blocks.
    println!("{}", result.text());
    // What it answered for programs, if it has an output schema.
    if let Some(value) = &result.structured_content {
        println!("{}", value.get());
    }
    client.shutdown()?;

    // That a tool failed is an answer like any other: the connection is fine, and the text says what went wrong.
    if result.is_error { Err(format!("{tool} failed").into()) } else { Ok(()) }
}
