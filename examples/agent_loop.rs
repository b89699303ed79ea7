//! An agent loop on `dyn ToolClient`, for two model APIs. The model is scripted: it calls ten tools at once.
//!
//! ```text
//! cargo run -p mcpwire --example agent_loop
//! ```

mod demo;
mod scripted_model;

use std::error::Error;

use futures_util::future::join_all;
use mcpwire::tool_client::types::CallToolResult;
use mcpwire::tool_client::{ModelTools, ToolClient, anthropic, openai};
use scripted_model::{ModelCall, Turn};
use serde_json::{Value, json, to_value};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Any `ToolClient` works. A `Hub` has the tools of many servers.
    let client = mcpwire::tokio::open(demo::server()).await?;
    println!("{}", agent(&client, true).await?);
    println!("{}", agent(&client, false).await?);
    client.shutdown().await?;
    Ok(())
}

async fn agent(client: &dyn ToolClient, is_openai: bool) -> Result<String, Box<dyn Error>> {
    let tools = ModelTools::new(client.list_tools().await?);
    let definitions = if is_openai { to_value(tools.openai())? } else { to_value(tools.anthropic())? };
    let mut messages = vec![json!({"role": "user", "content": "What is the weather in nine cities? Draw a chart."})];
    loop {
        let request = json!({"model": "scripted", "tools": definitions, "messages": messages});
        let Turn { message, text, calls } = scripted_model::respond(&request, is_openai);
        messages.push(message);
        if calls.is_empty() {
            return Ok(text);
        }
        let results = join_all(calls.iter().map(|call| run(client, &tools, call))).await;
        let results = calls.iter().zip(&results);
        if is_openai {
            let replies: Vec<_> = results.flat_map(|(call, result)| openai::messages(&call.id, result)).collect();
            // The messages with images follow those with the results.
            let (texts, images): (Vec<_>, _) =
                replies.iter().partition(|reply| matches!(reply, openai::Message::Tool { .. }));
            messages.extend(texts.into_iter().chain(images).map(to_value).collect::<Result<Vec<Value>, _>>()?);
        } else {
            let blocks: Vec<_> = results.map(|(call, result)| anthropic::ToolResult::new(&call.id, result)).collect();
            messages.push(json!({"role": "user", "content": blocks}));
        }
    }
}

/// Calls a tool. If the call fails, returns its error as a failed result for the model.
async fn run(client: &dyn ToolClient, tools: &ModelTools, call: &ModelCall) -> CallToolResult {
    let name = tools.name(&call.name).unwrap_or(&call.name);
    let result = client.call_tool(name, &call.arguments).await;
    result.unwrap_or_else(|error| error.to_result())
}
