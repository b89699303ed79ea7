//! Answers a server that requests sampling from a language model. (Deprecated from revision 2026-07-28 on.)
//!
//! ```text
//! cargo run --example sampling
//! ```
//!
//! The server is a task at the other end of an in-memory stream, and the model is a function.

use std::error::Error;

use mcpwire::tokio::{Compat, McpClient};
use mcpwire::types::{CreateMessageParams, CreateMessageResult};
use mcpwire::{Config, Negotiate, RpcError};
use mcpwire::{ConnectOptions, HandlerContext};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (near, far) = duplex(64 * 1024);
    let server = tokio::spawn(serve(far));

    let mut config = Config::new("sampling-example", "1.0");
    config.negotiate = Negotiate::Legacy;
    // The handler also declares the capability `sampling`. Other calls continue while it runs.
    let options = ConnectOptions::new(config).on_sampling(ask_model);
    let (reader, writer) = split(near);
    let client = McpClient::over(Compat(reader), Compat(writer), options);
    client.initialize().await?;
    println!("{}", client.call_tool("summarise", json!({"text": "It was a dark and stormy night."})).await?.text());
    client.shutdown().await?;
    drop(client);
    server.abort();
    Ok(())
}

/// A real program shows the request and the response to the user. `RpcError::USER_REJECTED` means that the user has declined.
async fn ask_model(params: CreateMessageParams, _: HandlerContext) -> Result<CreateMessageResult, RpcError> {
    let Some(last) = params.messages.items.last() else {
        return Err(RpcError::new(RpcError::INVALID_PARAMS, "there is nothing to answer"));
    };
    println!("the model is asked: {}", last.content.text());
    Ok(CreateMessageResult::text("no-model-at-all", "Bad weather, at night."))
}

/// Responds to a call with the text of the client's model.
async fn serve(stream: DuplexStream) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    let mut call = Value::Null;
    while let Some(line) = lines.next_line().await? {
        let message: Value = serde_json::from_str(&line)?;
        let id = &message["id"];
        let mut answer = match message["method"].as_str() {
            Some("initialize") => json!({"id": id, "result": {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "summaries", "version": "1"},
            }}),
            Some("tools/call") => {
                call = id.clone();
                let text =
                    format!("Summarise: {}", message["params"]["arguments"]["text"].as_str().unwrap_or_default());
                json!({"id": "model", "method": "sampling/createMessage", "params": {
                    "messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 50,
                }})
            }
            None if *id == "model" => json!({"id": call, "result": {"content": [message["result"]["content"]]}}),
            _ => continue,
        };
        answer["jsonrpc"] = json!("2.0");
        writer.write_all(format!("{answer}\n").as_bytes()).await?;
    }
    Ok(())
}
