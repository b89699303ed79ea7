//! The blocking client under measurement, for comparisons with other clients.
//!
//! ```text
//! peer_blocking MODE N SIZE -- SERVER [ARGUMENT...]
//! ```
//!
//! Prints one line of JSON. `bench/README.md` says what each mode does, what the line holds, and what the server must offer;
//! `fast_server` offers it.

mod measured;

use std::collections::VecDeque;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcpwire_blocking::protocol::{CallTool, CallToolParams, Notification, RequestOptions};
use mcpwire_blocking::{ConnectOptions, McpClient};

use crate::measured::{Echo, Flood, Meter, Outcome, Report, STANDSTILL, Task, config};

const USAGE: &str = "usage: peer_blocking MODE N SIZE -- SERVER [ARGUMENT...]";

fn main() -> Outcome {
    let task = Task::parse(env::args().skip(1)).ok_or(USAGE)?;
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
        echo(&mut client, task.echo())?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        echo(&mut client, task.echo())?;
        meter.took(begin.elapsed());
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
    let arguments = task.echo();
    let params = CallToolParams { name: "echo", arguments: &arguments };
    let mut tickets = VecDeque::with_capacity(task.in_flight);
    let mut sent = 0;
    for _ in 0..n {
        while sent < n && tickets.len() < task.in_flight {
            tickets.push_back(client.begin::<CallTool>(&params, &options)?);
            sent += 1;
        }
        let oldest = tickets.pop_front().ok_or("nothing is in flight")?;
        arguments.check(&oldest.wait(client)?)?;
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
        let begin = Instant::now();
        let tools = client.list_tools()?.len();
        meter.took(begin.elapsed());
        task.check_list(tools)?;
    }
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

/// The start of a server, the handshake and the list of its tools; its end is not among the times.
fn connect(task: &Task) -> Outcome<Report> {
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        let client = open_and_list(task)?;
        meter.took(begin.elapsed());
        client.shutdown()?;
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
        options.on_notification(move |notification| {
            let is_log = matches!(notification, Notification::Log(_));
            if is_log && seen.fetch_add(1, Ordering::Relaxed) == 0 && measuring.load(Ordering::Relaxed) {
                thread::sleep(standstill);
            }
        })
    })?;
    client.call_tool("flood", Flood { count: task.warm_up() }).send()?;
    seen.store(0, Ordering::Relaxed);
    measuring.store(true, Ordering::Relaxed);
    let mut meter = Meter::start(task);
    client.call_tool("flood", Flood { count: task.n }).send()?;
    meter.tell("delivered", seen.load(Ordering::Relaxed));
    let report = meter.stop();
    client.shutdown()?;
    Ok(report)
}

fn open(task: &Task) -> Outcome<McpClient> {
    open_with(task, |options| options)
}

fn open_and_list(task: &Task) -> Outcome<McpClient> {
    let mut client = open(task)?;
    client.list_tools()?;
    Ok(client)
}

fn open_with(task: &Task, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Outcome<McpClient> {
    let options = change(ConnectOptions::new(config("peer-blocking")));
    let mut client = McpClient::connect_with(&task.server()?, options)?;
    client.initialize()?;
    Ok(client)
}

fn echo(client: &mut McpClient, echo: Echo) -> Outcome {
    echo.check(&client.call_tool("echo", echo).send()?)
}
