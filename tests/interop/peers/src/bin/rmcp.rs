//! `rmcp call|list-and-call TOOL COMMAND ARGS...`: connect, list the tools if asked to, call one with the arguments on
//! standard input and a deadline of 3 s, close; a line for each. Stock settings.

use std::error::Error;
use std::io;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;
use tokio::time::timeout;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(what), Some(tool), Some(program)) = (words.next(), words.next(), words.next()) else {
        return Err("usage: rmcp call|list-and-call TOOL COMMAND ARGS...".into());
    };
    let arguments = serde_json::from_reader(io::stdin())?;
    let mut command = Command::new(program);
    command.args(words);
    let client = match ().serve(TokioChildProcess::new(command)?).await {
        Ok(client) => client,
        Err(error) => {
            println!("connect: {error}");
            return Ok(());
        }
    };
    if what == "list-and-call" {
        match client.list_all_tools().await {
            Ok(tools) => println!("tools: {}", tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>().join(", ")),
            Err(error) => println!("tools: {error}"),
        }
    }
    let call = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments));
    match timeout(Duration::from_secs(3), call).await {
        Ok(Ok(result)) => println!("call: {}", serde_json::to_string(&result.content)?),
        Ok(Err(error)) => println!("call: {error}"),
        Err(_) => println!("call: no answer in 3 s"),
    }
    match timeout(Duration::from_secs(10), client.cancel()).await {
        Ok(_) => println!("close: done"),
        Err(_) => println!("close: not done in 10 s"),
    }
    Ok(())
}
