//! Drives the protocol engine by hand, without an adapter: what it takes to put it under any other source of bytes.
//!
//! ```text
//! cargo run --example by_hand
//! ```
//!
//! The server is a child process whose pipes are read and written with the standard library alone. A real adapter also
//! waits no longer than the engine's next deadline, and never for a write while the server waits for it to read.

mod demo;

use std::error::Error;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallTool, CallToolParams, CallToolResult, CloseReason, Config, Event, Json, RequestOptions, Ticket, Timestamp,
};

fn main() -> Result<(), Box<dyn Error>> {
    let demo = demo::server();
    let mut command = Command::new(&demo.command);
    command.args(&demo.args).env_clear().envs(&demo.env).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn()?;
    let to_server = server.stdin.take().ok_or("the server has no input")?;
    let from_server = server.stdout.take().ok_or("the server has no output")?;

    // Both ends of its pipes are gone when this returns, and a server ends when its input does.
    let result = echo(to_server, from_server)?;
    println!("{}", result.text());
    println!("the server ended: {}", server.wait()?);
    Ok(())
}

/// Opens a connection over any two streams, and calls `echo`.
fn echo(mut to_server: impl Write, mut from_server: impl Read) -> Result<CallToolResult, Box<dyn Error>> {
    // The engine has no clock: it is told the time, counted from any beginning.
    let begin = Instant::now();
    let now = || Timestamp::from_origin(begin.elapsed());

    let mut engine = Engine::new(Config::new("by-hand", "1.0"));
    engine.calls().initialize(now())?;
    let mut ticket: Option<Ticket<CallTool>> = None;
    loop {
        // 1. Events first: some of them call for something to be sent.
        while let Some(event) = engine.poll_event() {
            match event {
                Event::Connected => {
                    let arguments = Json::parse(r#"{"message": "hello"}"#)?;
                    let params = CallToolParams { name: "echo", arguments: &arguments };
                    ticket = Some(engine.calls().request::<CallTool>(&params, &RequestOptions::new(), now())?);
                }
                // The ticket knows the type of the reply.
                Event::Reply(reply) => return Ok(ticket.take().ok_or("nothing was asked")?.decode(reply)?),
                Event::Closed(CloseReason::NotOpened(error)) => return Err(error.into()),
                Event::Closed(_) => return Err("the server has ended".into()),
                other => eprintln!("{other:?}"),
            }
        }
        // 2. Write what is to be sent. The stream may take less than all of it; the engine keeps the rest.
        while !engine.transmit().is_empty() {
            let written = to_server.write(engine.transmit())?;
            engine.transmitted(written);
        }
        // 3. Read into the engine's own buffer. There is space, because all events were taken. Nothing read is the end of the
        //    stream.
        if let Some(space) = engine.space() {
            match from_server.read(space)? {
                0 => engine.receive_eof(now()),
                n => engine.filled(n, now()),
            }
        }
        // 4. Tell the time, so that deadlines can pass.
        engine.handle_timeout(now());
    }
}
