//! Calls a tool. Arguments are pairs, `json!`, or anything that serde writes as an object.

use mcpwire::smol::open;
use mcpwire::{Error, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    let result = client.call_tool("echo", [("message", "hello")]).send().await?;
    println!("{}", result.text());

    // A tool that ran and failed has a result. `Err` is a call without a result.
    let result = client.call_tool("fail", ()).send().await?;
    if result.is_error {
        println!("the tool failed: {}", result.text());
    }
    client.shutdown().await?;
    Ok(())
}
