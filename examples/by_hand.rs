//! Drives the protocol engine without an adapter, as a new adapter would.
//!
//! ```text
//! cargo run --example by_hand
//! ```
//!
//! The server is a child process, and the program uses blocking pipes of the standard library. A real adapter also wakes up at the
//! engine's next deadline, and keeps reading while a write blocks.

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

    // When this returns, the pipes are closed, so the server ends.
    let result = echo(to_server, from_server)?;
    println!("{}", result.text());
    println!("the server ended: {}", server.wait()?);
    Ok(())
}

/// Opens a connection over any two streams, and calls `echo`.
fn echo(mut to_server: impl Write, mut from_server: impl Read) -> Result<CallToolResult, Box<dyn Error>> {
    // The engine has no clock: the program passes the time, counted from any origin.
    let begin = Instant::now();
    let now = || Timestamp::from_origin(begin.elapsed());

    let mut engine = Engine::new(Config::new("by-hand", "1.0"));
    engine.calls().initialize(now())?;
    let mut ticket: Option<Ticket<CallTool>> = None;
    loop {
        // 1. Take the events, because handling them may queue bytes to send.
        while let Some(event) = engine.poll_event() {
            match event {
                Event::Connected => {
                    let arguments = Json::parse(r#"{"message": "hello"}"#)?;
                    let params = CallToolParams { name: "echo", arguments: &arguments };
                    ticket = Some(engine.calls().request::<CallTool>(&params, &RequestOptions::new(), now())?);
                }
                // The ticket knows the type of the reply.
                Event::Reply(reply) => return Ok(ticket.take().ok_or("no call was sent")?.decode(reply)?),
                Event::Closed(CloseReason::NotOpened(error)) => return Err(error.into()),
                Event::Closed(_) => return Err("the server has ended".into()),
                other => eprintln!("{other:?}"),
            }
        }
        // 2. Write the queued bytes. After a partial write, the engine keeps the rest.
        while !engine.transmit().is_empty() {
            let written = to_server.write(engine.transmit())?;
            engine.transmitted(written);
        }
        // 3. Read into the engine's buffer. There is space, because all events were taken. A read of 0 bytes is the end of the
        //    stream.
        if let Some(space) = engine.space() {
            match from_server.read(space)? {
                0 => engine.receive_eof(now()),
                n => engine.filled(n, now()),
            }
        }
        // 4. Pass the time, so that deadlines can fire.
        engine.handle_timeout(now());
    }
}
