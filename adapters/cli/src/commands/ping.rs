//! `mcpwire ping`: whether the server is there, and how long it takes to say so.

use std::io::Write;
use std::time::Instant;

use mcpwire_blocking::McpClient;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::session::Session;

pub(super) fn run(session: &mut Session<'_>) -> Result<u8, Failure> {
    session.open()?;
    let asked = Instant::now();
    session.request(McpClient::ping)?;
    let milliseconds = asked.elapsed().as_secs_f64() * 1000.0;
    if session.options.json {
        output::json(&Pong { milliseconds })?;
    } else {
        output::page(|out| writeln!(out, "The server answered in {milliseconds:.1} ms."))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct Pong {
    milliseconds: f64,
}
