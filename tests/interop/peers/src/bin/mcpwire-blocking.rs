//! `mcpwire-blocking call|list-and-call TOOL COMMAND ARGS...`: connect, list the tools if asked to, call one with the arguments on
//! standard input and a deadline of 3 s, close; a line for each. Stock settings.

use std::error::Error;
use std::io;
use std::time::Duration;

use mcpwire_blocking::protocol::Json;
use mcpwire_blocking::{McpClient, McpServerDef};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(what), Some(tool), Some(program)) = (words.next(), words.next(), words.next()) else {
        return Err("usage: mcpwire-blocking call|list-and-call TOOL COMMAND ARGS...".into());
    };
    let arguments = Json::parse(io::read_to_string(io::stdin())?)?;
    let mut client = McpClient::connect(&McpServerDef::new(program).args(words))?;
    if let Err(error) = client.initialize() {
        println!("connect: {error}");
        return Ok(());
    }
    if what == "list-and-call" {
        match client.list_tools() {
            Ok(tools) => {
                println!("tools: {}", tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", "))
            }
            Err(error) => println!("tools: {error}"),
        }
        for rejected in client.rejected_tools() {
            println!("tool {} of the list is no good: {}", rejected.index, rejected.reason);
        }
    }
    match client.call_tool(&tool, arguments).timeout(Duration::from_secs(3)).send() {
        Ok(result) => println!("call: {} blocks: {}", result.content.len(), result.text()),
        Err(error) => println!("call: {error}"),
    }
    match client.shutdown() {
        Ok(_) => println!("close: done"),
        Err(error) => println!("close: {error}"),
    }
    Ok(())
}
