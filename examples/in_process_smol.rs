//! A server in the same program, on smol: a task at the other end of a duplex stream in memory.
//!
//! ```text
//! cargo run --example in_process_smol
//! ```
//!
//! The streams implement the traits of `futures-io`, so this works in the same way with async-std.

mod small_server;

use std::error::Error;
use std::io;

use mcpwire::ConnectOptions;
use mcpwire::runtime::memory::{Duplex, duplex};
use mcpwire::smol::McpClient;
use serde_json::json;
use smol::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use smol::stream::StreamExt;

fn main() -> Result<(), Box<dyn Error>> {
    smol::block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let (ours, theirs) = duplex(64 * 1024);
    let server = smol::spawn(serve(theirs));

    let client = McpClient::over(ours.reader, ours.writer, ConnectOptions::default().name("small"));
    client.initialize().await?;
    println!("{}", client.call_tool("reverse", json!({"text": "stressed"})).await?.text());

    client.shutdown().await?;
    server.await?;
    Ok(())
}

async fn serve(stream: Duplex) -> io::Result<()> {
    let Duplex { reader, mut writer } = stream;
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next().await {
        if let Some(answer) = small_server::answer(&line?) {
            writer.write_all(format!("{answer}\n").as_bytes()).await?;
        }
    }
    Ok(())
}
