//! A client on tokio that sends its HTTP requests with reqwest.
//!
//! ```text
//! cargo run --example http_with_reqwest -- http://localhost:3000/mcp
//! ```
//!
//! Without a URL, the program starts the demo server.

mod demo;

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use mcpwire::McpServerDef;
use mcpwire::http::HttpOptions;
use mcpwire::reqwest::ReqwestClient;
use mcpwire::runtime::process::Process;
use mcpwire::tokio::open;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(url) = std::env::args().nth(1) {
        return call_slow(&url).await;
    }
    // The server ends when the process handle is dropped.
    let (_process, pipes) = Process::spawn(&demo::server().args(["--http", "127.0.0.1:0"]))?;
    let mut url = String::new();
    BufReader::new(pipes.stdout).read_line(&mut url)?;
    call_slow(url.trim()).await
}

/// Calls the tool `slow`, which reports progress.
async fn call_slow(url: &str) -> Result<(), Box<dyn Error>> {
    // The program configures TLS, proxies and DNS. mcpwire follows redirects, so that no header reaches another origin.
    let builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(5));
    let http = HttpOptions::default().client(ReqwestClient::from_builder(builder)?);
    let client = open(McpServerDef::http(url)).http(http).await?;
    let result =
        client.call_tool("slow", [("seconds", 1)]).on_progress(|progress| println!("… {}", progress.progress)).await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
