//! A client over a stream of the program's own, a TCP connection here: any reader and writer will do.
//!
//! ```text
//! cargo run --example custom_stream
//! ```
//!
//! What listens at the other end is a bridge to the demo server, which itself knows nothing but its standard input and
//! output. (MCP over TCP is no transport of the protocol's: both ends have to agree on it, as they do here.)

mod demo;

use std::error::Error;
use std::io;
use std::process::Stdio;

use mcpwire_tokio::protocol::printable;
use mcpwire_tokio::{Compat, ConnectOptions, McpClient};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let bridge = tokio::spawn(bridge(listener));

    // `Compat` makes tokio's streams those of `futures_io`; whatever has these already is passed as it is.
    let (reader, writer) = TcpStream::connect(address).await?.into_split();
    let client = McpClient::over(Compat(reader), Compat(writer), ConnectOptions::default());
    let server = client.initialize().await?;
    println!("{} at {address}", printable(server.name()));

    let result = client.call_tool("echo", json!({"message": "there and back"})).await?;
    println!("{}", result.text());

    // There is no process to be ended: the connection is closed, and the rest is up to the other end.
    client.shutdown().await?;
    println!("bytes that went over: {:?}", bridge.await??);
    Ok(())
}

/// Carries bytes between the first who connects and a demo server. How many there were, in and out.
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
        // The end of its input is what ends the server.
        drop(input);
        n
    };
    let (forth, back) = tokio::try_join!(forth, tokio::io::copy(&mut output, &mut to_client))?;
    server.wait().await?;
    Ok((forth, back))
}
