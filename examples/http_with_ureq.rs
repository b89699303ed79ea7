//! Drives the HTTP engine with another HTTP client: ureq, with a thread for each exchange.
//!
//! ```text
//! cargo run --example http_with_ureq -- http://localhost:3000/mcp
//! ```
//!
//! Without a URL, the program starts the demo server. Any HTTP client works that supports concurrent requests and streams response bodies.
//! `http_by_hand` uses no HTTP client.

mod demo;

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire::runtime::process::Process;
use mcpwire_core::http::{Command, Engine, Exchange, ExchangeId, Failure, FailureKind, Settings, Verb};
use mcpwire_core::{
    CallTool, CallToolParams, CallToolResult, CloseReason, Config, Event, Json, Notification, RequestOptions, Ticket,
    Timestamp,
};
use ureq::Agent;
use ureq::http::Request;

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(url) = std::env::args().nth(1) {
        println!("{}", slow(&url)?.text());
        return Ok(());
    }
    // The server ends when the process handle is dropped.
    let (_process, pipes) = Process::spawn(&demo::server().args(["--http", "127.0.0.1:0"]))?;
    let mut url = String::new();
    BufReader::new(pipes.stdout).read_line(&mut url)?;
    println!("{}", slow(url.trim())?.text());
    Ok(())
}

/// An event of an exchange, reported by its thread.
enum Part {
    Head { status: u16, headers: Vec<(String, Vec<u8>)> },
    Piece(Vec<u8>),
    Ended,
    Failed(Failure),
}

/// Opens a connection and calls `slow`, which reports progress.
fn slow(url: &str) -> Result<CallToolResult, Box<dyn Error>> {
    // The engine has no clock: the program passes the time, counted from any origin.
    let begin = Instant::now();
    let now = || Timestamp::from_origin(begin.elapsed());

    // The engine handles error responses, redirects and deadlines.
    let agent = Agent::from(Agent::config_builder().http_status_as_error(false).max_redirects(0).build());
    // Bounded, so that the threads wait when the engine is slower.
    let (tell, told) = sync_channel(16);
    let mut running: HashMap<ExchangeId, Arc<AtomicBool>> = HashMap::new();

    let mut engine = Engine::new(Config::new("http-with-ureq", "1.0"), Settings::new(url)?);
    engine.calls().initialize(now())?;
    let mut ticket: Option<Ticket<CallTool>> = None;
    loop {
        // 1. Take the events, because handling them may queue requests.
        while let Some(event) = engine.poll_event() {
            match event {
                Event::Connected => {
                    let arguments = Json::parse(r#"{"seconds": 1}"#)?;
                    let params = CallToolParams { name: "slow", arguments: &arguments };
                    let options = RequestOptions::new().progress();
                    ticket = Some(engine.calls().request::<CallTool>(&params, &options, now())?);
                }
                // The ticket knows the type of the reply.
                Event::Reply(reply) => return Ok(ticket.take().ok_or("no call was sent")?.decode(reply)?),
                Event::Notification(Notification::Progress { progress, .. }) => println!("… {}", progress.progress),
                Event::Closed(CloseReason::NotOpened(error)) => return Err(error.into()),
                _ => {}
            }
        }
        // 2. Run the commands.
        while let Some(command) = engine.poll_exchange(now()) {
            match command {
                Command::Start(exchange) => {
                    let is_wanted = Arc::new(AtomicBool::new(true));
                    running.insert(exchange.id, Arc::clone(&is_wanted));
                    let (agent, tell) = (agent.clone(), tell.clone());
                    thread::spawn(move || run(&agent, exchange, &tell, &is_wanted));
                }
                Command::Abort(id) => {
                    if let Some(is_wanted) = running.remove(&id) {
                        is_wanted.store(false, Ordering::Relaxed);
                    }
                }
                _ => {}
            }
        }
        // 3. Wait for an event of an exchange or the next deadline.
        let wait = engine.poll_timeout().map_or(Duration::from_secs(60), |deadline| deadline.duration_since(now()));
        match told.recv_timeout(wait) {
            Ok((id, Part::Head { status, headers })) => {
                engine.response(id, status, headers.iter().map(|(name, value)| (name.as_str(), &value[..])), now());
            }
            Ok((id, Part::Piece(bytes))) => engine.body(id, &bytes, now()),
            Ok((id, Part::Ended)) => engine.ended(id, now()),
            Ok((id, Part::Failed(failure))) => engine.failed(id, failure, now()),
            Err(_) => {}
        }
        // 4. Pass the time. Calling this early is harmless.
        engine.handle_timeout(now());
    }
}

/// Sends one request, and reports the parts of the response. The engine ignores events of aborted exchanges.
fn run(agent: &Agent, exchange: Exchange, tell: &SyncSender<(ExchangeId, Part)>, is_wanted: &AtomicBool) {
    let id = exchange.id;
    let last = match read(agent, exchange, tell, is_wanted) {
        Ok(()) => Part::Ended,
        Err(failure) => Part::Failed(failure),
    };
    // The error is ignored: the receiver is dropped after the call.
    let _ = tell.send((id, last));
}

fn read(
    agent: &Agent,
    exchange: Exchange,
    tell: &SyncSender<(ExchangeId, Part)>,
    is_wanted: &AtomicBool,
) -> Result<(), Failure> {
    let id = exchange.id;
    let mut request = Request::builder().method(exchange.verb.as_str()).uri(exchange.uri);
    for (name, value) in &exchange.headers {
        request = request.header(&**name, value);
    }
    let wrong = |error: ureq::http::Error| Failure::new(FailureKind::NotMade, error.to_string());
    let response = match exchange.verb {
        Verb::Post => agent.run(request.body(exchange.body).map_err(wrong)?),
        _ => agent.run(request.body(()).map_err(wrong)?),
    };
    let response = response.map_err(|error| match error {
        ureq::Error::Io(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => {
            Failure::new(FailureKind::Broken, error.to_string())
        }
        error => Failure::new(FailureKind::Unreachable, error.to_string()),
    })?;

    let headers = response.headers().iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
    let head = Part::Head { status: response.status().as_u16(), headers: headers.collect() };
    let _ = tell.send((id, head));
    let mut body = response.into_body().into_reader();
    let mut piece = [0; 16 * 1024];
    while is_wanted.load(Ordering::Relaxed) {
        match body.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => drop(tell.send((id, Part::Piece(piece[..n].to_vec())))),
            Err(error) => return Err(Failure::new(FailureKind::Broken, error.to_string())),
        }
    }
    // Dropping an unfinished body closes its connection.
    Ok(())
}
