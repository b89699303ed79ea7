//! Connects to a server over HTTP, with a header and a token.

use std::env;

use mcpwire::blocking::open;
use mcpwire::http::{HttpOptions, TokenError};
use mcpwire::{Error, McpServerDef};

pub(crate) fn run(url: &str) -> Result<(), Error> {
    let def = McpServerDef::http(url).header("X-Client", "example");
    let mut client = open(&def).http(HttpOptions::default().token(token)).wait()?;
    println!("{}", client.call_tool("echo", [("message", "hello over HTTP")]).send()?.text());
    // Ends the session on the server.
    client.shutdown()?;
    Ok(())
}

/// Returns the token for the next request. `async` in every client, because a real one may have to refresh the token.
async fn token() -> Result<Option<String>, TokenError> {
    Ok(env::var("EXAMPLE_TOKEN").ok())
}
