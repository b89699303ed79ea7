//! Calls by name through a hub, to compare with the tokio client alone.
//!
//! ```text
//! peer_hub seq N SIZE -- SERVER [ARGUMENT...]
//! ```
//!
//! Prints the same line of JSON as `peer_tokio ct seq`. `bench/README.md` describes the line and the server.

#[allow(dead_code, reason = "other peers measure more")]
mod measured;

use std::env;
use std::time::Instant;

use mcpwire_hub::config::McpConfig;
use mcpwire_hub::{ConnectOptions, Hub, HubOptions};
use tokio::runtime::Builder;

use crate::measured::{Echo, Meter, Outcome, Report, Task, config};

fn main() -> Outcome {
    let task = Task::parse(env::args().skip(1)).filter(|task| task.mode == "seq");
    let task = task.ok_or("usage: peer_hub seq N SIZE -- SERVER [ARGUMENT...]")?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    println!("{}", runtime.block_on(sequential(&task))?);
    Ok(())
}

/// One call after the other.
async fn sequential(task: &Task) -> Outcome<Report> {
    let hub = Hub::open(HubOptions::in_memory().connect(|_| ConnectOptions::new(config("peer-hub")))).await?;
    let server = task.server()?;
    let server = McpConfig::binary("server", server.command).args(server.args);
    let id = hub.upsert(server).await?;
    hub.start(id).await?;
    for _ in 0..task.warm_up() {
        echo(&hub, task.echo()).await?;
    }
    let mut meter = Meter::start(task);
    for _ in 0..task.n {
        let begin = Instant::now();
        echo(&hub, task.echo()).await?;
        meter.took(begin.elapsed());
    }
    let report = meter.stop();
    hub.shutdown_all().await?;
    Ok(report)
}

async fn echo(hub: &Hub, echo: Echo) -> Outcome {
    echo.check(&hub.call("server__echo", echo).await?.result)
}
