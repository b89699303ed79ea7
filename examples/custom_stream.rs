//! A client over a custom stream, here a TCP connection. Any reader and writer works.
//!
//! ```text
//! cargo run --example custom_stream
//! ```
//!
//! The listener is a bridge to the demo server, which uses its standard input and output. (The protocol defines no TCP transport, so both
//! ends must agree on it.)

mod demo;

use std::error::Error;
use std::io;
use std::process::Stdio;

use mcpwire::ConnectOptions;
use mcpwire::tokio::{Compat, McpClient};
use mcpwire::types::printable;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let bridge = tokio::spawn(bridge(listener));

    // `Compat` converts tokio's streams to the stream traits of the client.
    let (reader, writer) = TcpStream::connect(address).await?.into_split();
    let client = McpClient::over(Compat(reader), Compat(writer), ConnectOptions::default());
    let server = client.initialize().await?;
    println!("{} at {address}", printable(server.name()));

    let result = client.call_tool("echo", json!({"message": "there and back"})).await?;
    println!("{}", result.text());

    // There is no process to end, so this closes the connection.
    client.shutdown().await?;
    println!("bytes in and out: {:?}", bridge.await??);
    Ok(())
}

/// Forwards bytes between the first connection and a demo server. Returns the number of bytes in and out.
async fn bridge(listener: TcpListener) -> io::Result<(u64, u64)> {
    let (mut client, _) = listener.accept().await?;
    let demo = demo::server();
    let mut command = Command::new(&demo.command);
    let mut server =
        command.args(&demo.args).env_clear().envs(&demo.env).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(mut output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (mut from_client, mut to_client) = client.split();
    let forth = async {
        let n = tokio::io::copy(&mut from_client, &mut input).await;
        // Closes the server's input, which ends the server.
        drop(input);
        n
    };
    let (forth, back) = tokio::try_join!(forth, tokio::io::copy(&mut output, &mut to_client))?;
    server.wait().await?;
    Ok((forth, back))
}
