//! Sends ten calls at once, and takes their results.

use mcpwire::blocking::open;
use mcpwire::{Error, McpServerDef};

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    let mut calls = Vec::new();
    for _ in 0..10 {
        // Sends the call without waiting for its result.
        calls.push(client.call_tool("slow", [("seconds", 0.2)]).begin()?);
    }
    for call in calls {
        println!("{}", call.wait(&mut client)?.text());
    }
    client.shutdown()?;
    Ok(())
}
