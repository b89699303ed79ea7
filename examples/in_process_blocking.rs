//! A server in the same program, without a runtime: a thread at the other ends of two pipes.
//!
//! ```text
//! cargo run --example in_process_blocking
//! ```

mod small_server;

use std::error::Error;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread;

use mcpwire::ConnectOptions;
use mcpwire::blocking::McpClient;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let (from_server, to_client) = io::pipe()?;
    let (from_client, to_server) = io::pipe()?;
    let server = thread::spawn(move || serve(from_client, to_client));

    let mut client = McpClient::over(from_server, to_server, ConnectOptions::default().name("small"))?;
    client.initialize()?;
    println!("{}", client.call_tool("reverse", json!({"text": "stressed"})).send()?.text());

    // This ends the stream, and with it the server.
    client.shutdown()?;
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

fn serve(reader: PipeReader, mut writer: PipeWriter) -> io::Result<()> {
    for line in BufReader::new(reader).lines() {
        if let Some(answer) = small_server::answer(&line?) {
            writeln!(writer, "{answer}")?;
        }
    }
    Ok(())
}
