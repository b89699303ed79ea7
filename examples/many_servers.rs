//! Measures the cost of many servers: starts 200 servers (or another number) with 50 tools each. `cargo bench -p mcpwire-benches --bench hub`
//! measures operations on that many tools.
//!
//! ```text
//! cargo run --release -p mcpwire --example many_servers -- 200
//! cargo run --release -p mcpwire --example many_servers -- 200 32 target/release/mcpwire demo-server
//! ```
//!
//! The second command starts 32 servers at a time, and uses another server with its arguments.

use std::env;
use std::fs;
use std::time::Instant;

use mcpwire::hub::config::{EnvVarConfig, McpConfig};
use mcpwire::hub::layout::Layout;
use mcpwire::hub::supervisor::SupervisorSettings;
use mcpwire::hub::{Hub, HubOptions};
use mcpwire::testkit::ScriptedServer;
use mcpwire::tokio::{Compat, Tokio};

const SERVE: &str = "MANY_SERVERS_SERVE";
const TOOLS: usize = 50;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if env::var_os(SERVE).is_some() {
        let server = (0..TOOLS).fold(ScriptedServer::new(), |server, at| server.tool(format!("tool_{at}"), |_| "done"));
        server.serve::<Tokio>(Compat(tokio::io::stdin()), Compat(tokio::io::stdout())).await;
        std::process::exit(0);
    }
    let count: usize = env::args().nth(1).map_or(Ok(200), |count| count.parse())?;
    let starts: usize = env::args().nth(2).map_or(Ok(8), |starts| starts.parse())?;
    let directory = tempfile::tempdir()?;
    let mut settings = SupervisorSettings::default();
    settings.max_starts = starts;
    let hub = Hub::open(HubOptions::new(Layout::below(directory.path())).supervisor(settings)).await?;
    let program = match env::args().nth(3) {
        Some(program) => program,
        None => env::current_exe()?.to_string_lossy().into_owned(),
    };
    for at in 0..count {
        let config = McpConfig::binary(format!("server {at}"), &program).args(env::args().skip(4));
        hub.create(config.env(EnvVarConfig::value(SERVE, "1"))).await?;
    }

    let before = memory();
    let begun = Instant::now();
    let booted = hub.boot().await?;
    println!("{} of {count} servers started in {:?}, {starts} at a time", booted.ready, begun.elapsed());
    println!("the hub's own memory per server: {} KiB", (memory() - before) / count.max(1));
    let of_servers: u64 = hub.usage().iter().map(|(_, usage)| usage.memory).sum();
    println!("the memory of a server's process: {} KiB", of_servers / 1024 / count.max(1) as u64);

    println!("tools: {}", hub.available_tools().len());
    let begun = Instant::now();
    hub.shutdown_all().await?;
    println!("all ended in {:?}", begun.elapsed());
    Ok(())
}

/// The resident memory of this process, in KiB.
fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok()).unwrap_or(0)
}
