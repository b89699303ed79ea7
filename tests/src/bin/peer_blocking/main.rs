//! The blocking client under measurement, for comparisons with other clients.
//!
//! ```text
//! peer_blocking MODE N SIZE -- SERVER [ARGUMENT...]
//! ```
//!
//! Prints one line of JSON. `bench/README.md` says what each mode does, what the line holds, and what the server must offer;
//! `fast_server` offers it.

mod meter;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcpwire_blocking::core::{
    CallTool, CallToolParams, CallToolResult, Config, ContentBlock, Event, Negotiate, Notification, RequestOptions,
};
use mcpwire_blocking::{ConnectOptions, McpClient, McpServerDef};
use serde::Serialize;

use crate::meter::{Meter, Report, Task};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// How long the slow consumer of `floodslow` stands still.
const STANDSTILL: Duration = Duration::from_secs(2);

fn main() -> Outcome {
    let task = Task::of_process();
    let report = match task.mode.as_str() {
        "seq" | "large" => sequential(&task)?,
        "conc" => in_flight(&task)?,
        "list" => list(&task)?,
        "connect" => connect(&task)?,
        "idle" => idle(&task)?,
        "flood" => flood(&task, Duration::ZERO)?,
        "floodslow" => flood(&task, STANDSTILL)?,
        other => return Err(format!("there is no mode {other}").into()),
    };
    println!("{report}");
    Ok(())
}

/// One call after the other.
fn sequential(task: &Task) -> Outcome<Report> {
    let mut client = open(task)?;
    for _ in 0..task.warm_up() {
        echo(&mut client, task.size)?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        meter.time(|| echo(&mut client, task.size))?;
    }
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

/// A window of calls that are under way at the same time.
fn in_flight(task: &Task) -> Outcome<Report> {
    let mut client = open(task)?;
    window(&mut client, task, task.warm_up())?;
    let meter = Meter::start(task);
    window(&mut client, task, task.n)?;
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

fn window(client: &mut McpClient, task: &Task, n: usize) -> Outcome {
    let options = RequestOptions::new();
    let arguments = Echo::new(task.size);
    let params = CallToolParams { name: "echo", arguments: &arguments };
    let mut tickets = VecDeque::with_capacity(task.in_flight);
    let mut sent = 0;
    for _ in 0..n {
        while sent < n && tickets.len() < task.in_flight {
            tickets.push_back(client.begin::<CallTool>(&params, &options)?);
            sent += 1;
        }
        let oldest = tickets.pop_front().ok_or("nothing is in flight")?;
        check(&client.wait(oldest)?, task.size)?;
    }
    Ok(())
}

fn list(task: &Task) -> Outcome<Report> {
    let mut client = open(task)?;
    for _ in 0..task.warm_up() {
        client.list_tools()?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let tools = meter.time(|| client.list_tools().map(<[_]>::len))?;
        if tools != task.size {
            return Err(format!("{tools} tools are listed, not {}", task.size).into());
        }
    }
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

/// The start of a server, the handshake and the list of its tools; its end is not among the times.
fn connect(task: &Task) -> Outcome<Report> {
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        meter.time(|| open_and_list(task))?.shutdown()?;
    }
    Ok(meter.stop())
}

/// Connections that are open and do nothing.
fn idle(task: &Task) -> Outcome<Report> {
    let first = open_and_list(task)?;
    let mut meter = Meter::start(task);
    let connections = (0..task.n).map(|_| open_and_list(task)).collect::<Outcome<Vec<_>>>()?;
    meter.tell_growth_of_each();
    let report = meter.stop();
    for client in connections.into_iter().chain([first]) {
        client.shutdown()?;
    }
    Ok(report)
}

/// Notifications as fast as the server can send them, to a consumer that stands still once.
fn flood(task: &Task, standstill: Duration) -> Outcome<Report> {
    let seen = Arc::new(AtomicUsize::new(0));
    let measuring = Arc::new(AtomicBool::new(false));
    let mut client = open_with(task, |options| {
        let (seen, measuring) = (Arc::clone(&seen), Arc::clone(&measuring));
        options.on_event = Some(Box::new(move |event| {
            let is_log = matches!(event, Event::Notification(Notification::Log(_)));
            if is_log && seen.fetch_add(1, Ordering::Relaxed) == 0 && measuring.load(Ordering::Relaxed) {
                thread::sleep(standstill);
            }
        }));
    })?;
    client.call_tool("flood", Flood { count: task.warm_up() })?;
    seen.store(0, Ordering::Relaxed);
    measuring.store(true, Ordering::Relaxed);
    let mut meter = Meter::start(task);
    client.call_tool("flood", Flood { count: task.n })?;
    meter.tell("delivered", seen.load(Ordering::Relaxed));
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

fn open(task: &Task) -> Outcome<McpClient> {
    open_with(task, |_| {})
}

fn open_and_list(task: &Task) -> Outcome<McpClient> {
    let mut client = open(task)?;
    client.list_tools()?;
    Ok(client)
}

fn open_with(task: &Task, change: impl FnOnce(&mut ConnectOptions)) -> Outcome<McpClient> {
    let (program, arguments) = task.server.split_first().ok_or("no server is given")?;
    let mut options = ConnectOptions::new(Config::new("peer-blocking", env!("CARGO_PKG_VERSION")));
    // The other clients of a comparison do not ask for the era either.
    options.config.negotiate = Negotiate::Legacy;
    change(&mut options);
    let mut client = McpClient::connect_with(&McpServerDef::new(program).args(arguments.iter().cloned()), options)?;
    client.initialize()?;
    Ok(client)
}

/// The arguments of `echo`, with a message that makes the request as long as usual ones are.
#[derive(Serialize)]
struct Echo {
    message: &'static str,
    bytes: usize,
}

impl Echo {
    fn new(bytes: usize) -> Self {
        Self { message: "a message of sixty-four bytes, that is as long as many arguments", bytes }
    }
}

#[derive(Serialize)]
struct Flood {
    count: usize,
}

fn echo(client: &mut McpClient, bytes: usize) -> Outcome {
    check(&client.call_tool("echo", Echo::new(bytes))?, bytes)
}

/// A client that is fast because it answers wrongly is not fast.
fn check(result: &CallToolResult, bytes: usize) -> Outcome {
    let len = result.content.first().and_then(ContentBlock::as_text).map(str::len);
    if len == Some(bytes) { Ok(()) } else { Err(format!("the answer has {len:?} bytes, not {bytes}").into()) }
}
