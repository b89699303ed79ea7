//! `tower-mcp call|list-and-call TOOL COMMAND ARGS...`: connect, list the tools if asked to, call one with the arguments on
//! standard input and a deadline of 3 s, close; a line for each. Stock settings.

use std::error::Error;
use std::io;
use std::time::Duration;

use tokio::time::timeout;
use tower_mcp::client::{McpClient, StdioClientTransport};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [what, tool, program, rest @ ..] = words.as_slice() else {
        return Err("usage: tower-mcp call|list-and-call TOOL COMMAND ARGS...".into());
    };
    let arguments = serde_json::from_reader(io::stdin())?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let client = McpClient::connect(StdioClientTransport::spawn(program, &rest).await?).await?;
    if let Err(error) = client.initialize("comparison", "0").await {
        println!("connect: {error}");
        return Ok(());
    }
    if what == "list-and-call" {
        match client.list_all_tools().await {
            Ok(tools) => {
                println!("tools: {}", tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", "))
            }
            Err(error) => println!("tools: {error}"),
        }
    }
    let call = client.call_tool(tool, arguments);
    match timeout(Duration::from_secs(3), call).await {
        Ok(Ok(result)) => println!("call: {}", serde_json::to_string(&result.content)?),
        Ok(Err(error)) => println!("call: {error}"),
        Err(_) => println!("call: no answer in 3 s"),
    }
    match timeout(Duration::from_secs(10), client.shutdown()).await {
        Ok(_) => println!("close: done"),
        Err(_) => println!("close: not done in 10 s"),
    }
    Ok(())
}
