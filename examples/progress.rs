//! Shows the progress of a call with a callback, and all notifications with a stream.
//!
//! ```text
//! cargo run --example progress
//! ```

mod demo;

use std::error::Error;

use mcpwire::tokio::{Notifications, open};
use mcpwire::{Notification, Progress};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client = open(demo::server()).await?;
    // All notifications from now on, in order. Any number of tasks may have such a stream.
    let listener = tokio::spawn(listen(client.notifications()));

    // `on_progress` requests progress notifications. Each restarts the timeout, but not the total timeout.
    let result = client.call_tool("slow", json!({"seconds": 1})).on_progress(show).await?;
    println!("{}", result.text());

    // The stream ends with the connection.
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
    // The queue drops the oldest notifications if the task is slow, and counts them.
    heard + usize::try_from(notifications.dropped()).unwrap_or(usize::MAX)
}
