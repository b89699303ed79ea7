//! Sends ten calls at once, and takes their results.

use mcpwire::async_std::open;
use mcpwire::{Error, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let mut calls = Vec::new();
    for _ in 0..10 {
        // Sends the call without waiting for its result.
        calls.push(client.call_tool("slow", [("seconds", 0.2)]).begin()?);
    }
    for call in calls {
        println!("{}", call.await?.text());
    }
    client.shutdown().await?;
    Ok(())
}
