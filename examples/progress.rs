//! How far a call has come, as the caller hears it; and all that the server tells unasked, as anybody can hear it.
//!
//! ```text
//! cargo run --example progress
//! ```

mod demo;

use std::error::Error;

use mcpwire_tokio::protocol::{Notification, Progress};
use mcpwire_tokio::{McpClient, Notifications};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = McpClient::connect_and_initialize(&demo::server()).await?;
    // Everything that comes from now on, in order. Any number of tasks may listen.
    let listener = tokio::spawn(listen(client.notifications()));

    // The server reports because it is asked to. Each report puts the timeout off; `total_timeout` is what they do not move.
    let result = client.call_tool("slow", json!({"seconds": 1})).on_progress(show).await?;
    println!("{}", result.text());

    // The notifications end with the connection.
    client.shutdown().await?;
    println!("in all, {} notifications came", listener.await?);
    Ok(())
}

/// Called by the task that awaits the call.
fn show(progress: &Progress) {
    match progress.fraction() {
        Some(fraction) => println!("{:3.0} %", 100.0 * fraction),
        None => println!("{} so far", progress.progress),
    }
}

async fn listen(mut notifications: Notifications) -> usize {
    let mut heard = 0;
    while let Some(notification) = notifications.next().await {
        heard += 1;
        match notification {
            Notification::Log(message) => println!("the server logs {}", message.data.get()),
            Notification::ToolsChanged => println!("the server has other tools now"),
            _ => {}
        }
    }
    // A listener that is slow misses some rather than holding up everybody: it can tell how many.
    heard + usize::try_from(notifications.dropped()).unwrap_or(usize::MAX)
}
