//! `mcpwire ping`: checks that a server responds, and measures how long that takes.

use std::io::Write;
use std::time::Instant;

use mcpwire_blocking::McpClient;
use serde::Serialize;

use crate::console::output;
use crate::failure::Failure;
use crate::session::Direct;

pub(super) fn run(session: &mut Direct<'_>) -> Result<u8, Failure> {
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
