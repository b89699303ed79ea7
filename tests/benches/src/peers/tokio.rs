//! The tokio client under measurement, for comparisons with other clients.
//!
//! ```text
//! peer_tokio ct|mt MODE N SIZE -- SERVER [ARGUMENT...]
//! ```
//!
//! `ct` is the current-thread runtime, `mt` the multi-thread one. Prints one line of JSON. `bench/README.md` says what each
//! mode does, what the line holds, and what the server must offer; `fast_server` offers it.

mod measured;

use std::env;
use std::time::{Duration, Instant};

use mcpwire_tokio::protocol::Notification;
use mcpwire_tokio::{ConnectOptions, McpClient, Notifications};
use tokio::runtime::{Builder, Runtime};

use crate::measured::{Echo, Flood, Meter, Outcome, Report, STANDSTILL, Task, config};

const USAGE: &str = "usage: peer_tokio ct|mt MODE N SIZE -- SERVER [ARGUMENT...]";

fn main() -> Outcome {
    let mut words = env::args().skip(1);
    let runtime = runtime(&words.next().ok_or(USAGE)?)?;
    let task = Task::parse(words).ok_or(USAGE)?;
    println!("{}", runtime.block_on(measure(&task))?);
    Ok(())
}

fn runtime(flavor: &str) -> Outcome<Runtime> {
    let mut builder = match flavor {
        "ct" => Builder::new_current_thread(),
        "mt" => Builder::new_multi_thread(),
        _ => return Err(USAGE.into()),
    };
    Ok(builder.enable_all().build()?)
}

async fn measure(task: &Task) -> Outcome<Report> {
    match task.mode.as_str() {
        "seq" | "large" => sequential(task).await,
        "conc" => in_flight(task).await,
        "list" => list(task).await,
        "connect" => connect(task).await,
        "idle" => idle(task).await,
        "flood" => flood(task, Duration::ZERO).await,
        "floodslow" => flood(task, STANDSTILL).await,
        other => Err(format!("there is no mode {other}").into()),
    }
}

/// One call after the other.
async fn sequential(task: &Task) -> Outcome<Report> {
    let client = open(task).await?;
    for _ in 0..task.warm_up() {
        echo(&client, task.echo()).await?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        echo(&client, task.echo()).await?;
        meter.took(begin.elapsed());
    }
    let report = meter.stop();
    client.shutdown().await?;
    Ok(report)
}

/// Tasks that call at the same time, one after the other each.
async fn in_flight(task: &Task) -> Outcome<Report> {
    let client = open(task).await?;
    side_by_side(&client, task, task.warm_up()).await?;
    let meter = Meter::start(task);
    side_by_side(&client, task, task.n).await?;
    let report = meter.stop();
    client.shutdown().await?;
    Ok(report)
}

async fn side_by_side(client: &McpClient, task: &Task, n: usize) -> Outcome {
    let callers: Vec<_> = (0..task.in_flight)
        .map(|caller| {
            let (client, arguments) = (client.clone(), task.echo());
            let share = n / task.in_flight + usize::from(caller < n % task.in_flight);
            tokio::spawn(async move {
                for _ in 0..share {
                    echo(&client, arguments).await?;
                }
                Outcome::Ok(())
            })
        })
        .collect();
    for caller in callers {
        caller.await??;
    }
    Ok(())
}

async fn list(task: &Task) -> Outcome<Report> {
    let client = open(task).await?;
    for _ in 0..task.warm_up() {
        client.list_tools().await?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        let tools = client.list_tools().await?.len();
        meter.took(begin.elapsed());
        task.check_list(tools)?;
    }
    let report = meter.stop();
    client.shutdown().await?;
    Ok(report)
}

/// The start of a server, the handshake and the list of its tools; its end is not among the times.
async fn connect(task: &Task) -> Outcome<Report> {
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        let client = open_and_list(task).await?;
        meter.took(begin.elapsed());
        client.shutdown().await?;
    }
    Ok(meter.stop())
}

/// Connections that are open and do nothing.
async fn idle(task: &Task) -> Outcome<Report> {
    let mut connections = vec![open_and_list(task).await?];
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        connections.push(open_and_list(task).await?);
    }
    meter.tell_growth_of_each();
    let report = meter.stop();
    for client in connections {
        client.shutdown().await?;
    }
    Ok(report)
}

/// Notifications as fast as the server can send them, to a task that may stand still at the first one.
async fn flood(task: &Task, standstill: Duration) -> Outcome<Report> {
    let client = open(task).await?;
    flood_once(&client, task.warm_up(), Duration::ZERO).await?;
    let mut meter = Meter::start(task);
    let delivered = flood_once(&client, task.n, standstill).await?;
    meter.tell("delivered", delivered);
    let report = meter.stop();
    client.shutdown().await?;
    Ok(report)
}

/// How many of the notifications were handled.
async fn flood_once(client: &McpClient, count: usize, standstill: Duration) -> Outcome<usize> {
    let consumer = tokio::spawn(consume(client.notifications(), count, standstill));
    client.call_tool("flood", Flood { count }).await?;
    Ok(consumer.await?)
}

/// Takes notifications until there have been so many, with those that were dropped because they were not taken in time.
async fn consume(mut notifications: Notifications, count: usize, standstill: Duration) -> usize {
    let mut seen = 0;
    while (seen as u64) + notifications.dropped() < count as u64 {
        match notifications.next().await {
            Some(Notification::Log(_)) => seen += 1,
            Some(_) => continue,
            None => break,
        }
        if seen == 1 {
            tokio::time::sleep(standstill).await;
        }
    }
    seen
}

async fn open(task: &Task) -> Outcome<McpClient> {
    let client = McpClient::connect_with(&task.server()?, ConnectOptions::new(config("peer-tokio")))?;
    client.initialize().await?;
    Ok(client)
}

async fn open_and_list(task: &Task) -> Outcome<McpClient> {
    let client = open(task).await?;
    client.list_tools().await?;
    Ok(client)
}

async fn echo(client: &McpClient, echo: Echo) -> Outcome {
    echo.check(&client.call_tool("echo", echo).await?)
}
