//! A server in the same program, on tokio: a task at the other end of a duplex stream in memory.
//!
//! ```text
//! cargo run --example in_process
//! ```
//!
//! `in_process_smol` is the same with streams of `futures-io`, and `in_process_blocking` with threads.

mod small_server;

use std::error::Error;
use std::io;

use mcpwire::ConnectOptions;
use mcpwire::tokio::{Compat, McpClient};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // As much as a pipe holds: the side that writes more waits for the other one.
    let (ours, theirs) = duplex(64 * 1024);
    let server = tokio::spawn(serve(theirs));

    let (reader, writer) = split(ours);
    // Errors and handlers call the server by this name.
    let options = ConnectOptions::default().name("small");
    let client = McpClient::over(Compat(reader), Compat(writer), options);
    client.initialize().await?;
    for tool in &client.list_tools().await? {
        println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
    }
    println!("{}", client.call_tool("reverse", json!({"text": "stressed"})).await?.text());

    // This ends the stream, and with it the server.
    client.shutdown().await?;
    server.await??;
    Ok(())
}

async fn serve(stream: DuplexStream) -> io::Result<()> {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(answer) = small_server::answer(&line) {
            writer.write_all(format!("{answer}\n").as_bytes()).await?;
        }
    }
    Ok(())
}
