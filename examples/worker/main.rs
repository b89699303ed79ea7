//! An agent's worker that polls a source through a tool every second, and prints the results.
//!
//! ```text
//! mcpwire server add source -- npx -y @modelcontextprotocol/server-everything
//! cargo run -p mcpwire-hub --example worker -- source__echo '{"message": "anything new?"}'
//! ```

mod worker;

use std::sync::Arc;
use std::time::Duration;

use mcpwire_hub::layout::Layout;
use mcpwire_hub::{Hub, HubOptions};

use worker::{Source, Worker};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let tool = words.next().ok_or("which tool?")?;
    let arguments = serde_json::from_str(&words.next().unwrap_or_else(|| "{}".into()))?;

    let layout = Layout::of_application("mcpwire").ok_or("the home directory is unknown")?;
    let hub = Hub::open(HubOptions::new(layout)).await?;
    let booted = hub.boot().await?;
    println!("{} servers run, {} have failed", booted.ready, booted.failed);

    let mut worker = Worker::new(Arc::new(hub.clone()), vec![Source { tool, arguments }]);
    for tool in worker.tools() {
        println!("can use {}", tool["name"]);
    }
    for _ in 0..10 {
        for perception in worker.perceive().await {
            println!("{perception:?}");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    println!("the worker has stored {} observations", worker.memory().len());
    hub.shutdown_all().await?;
    Ok(())
}
