//! Calls a tool. Arguments are pairs, `json!`, or anything that serde writes as an object.

use mcpwire::blocking::open;
use mcpwire::{Error, McpServerDef};

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    let result = client.call_tool("echo", [("message", "hello")]).send()?;
    println!("{}", result.text());

    // A tool that ran and failed has a result. `Err` is a call without a result.
    let result = client.call_tool("fail", ()).send()?;
    if result.is_error {
        println!("the tool failed: {}", result.text());
    }
    client.shutdown()?;
    Ok(())
}
