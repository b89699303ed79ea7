//! Calls a tool of a server.
//!
//! ```text
//! cargo run --example call_tool -- add '{"a": 2, "b": 3}' npx -y my-server
//! ```
//!
//! Without a server, the program starts the demo server. Without arguments, it calls `add`.

mod demo;

use std::error::Error;
use std::time::Duration;

use mcpwire::Json;
use mcpwire::McpServerDef;
use mcpwire::blocking::open;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let tool = words.next().unwrap_or_else(|| "add".into());
    let arguments = Json::parse(words.next().unwrap_or_else(|| r#"{"a": 2, "b": 3}"#.into()))?;
    let command: Vec<String> = words.collect();

    let def = match command.split_first() {
        Some((program, arguments)) => McpServerDef::new(program).args(arguments.iter().cloned()),
        None => demo::server(),
    };

    let mut client = open(&def).wait()?;
    let result = client
        .call_tool(&tool, &arguments)
        .timeout(Duration::from_secs(120))
        .on_progress(|progress| eprintln!("{} of {:?}", progress.progress, progress.total))
        .send()?;
    // The text of all text blocks.
    println!("{}", result.text());
    // The structured content, if the tool has an output schema.
    if let Some(value) = &result.structured_content {
        println!("{}", value.get());
    }
    client.shutdown()?;

    // A tool that fails has a result: its text is the error message.
    if result.is_error { Err(format!("{tool} failed").into()) } else { Ok(()) }
}
