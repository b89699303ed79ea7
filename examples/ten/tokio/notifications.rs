//! Receives notifications, and lists the tools again when the server has changed them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcpwire::Notification;
use mcpwire::tokio::open;
use mcpwire::types::printable;
use mcpwire::{Error, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    let has_changed = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&has_changed);
    let client = open(def)
        .on_notification(move |notification| match notification {
            Notification::ToolsChanged => flag.store(true, Ordering::Relaxed),
            Notification::Log(message) => println!("{}: {}", message.level, printable(&message.text())),
            _ => {}
        })
        .await?;
    client.call_tool("echo", [("message", "hello")]).send().await?;
    if has_changed.swap(false, Ordering::Relaxed) {
        client.list_tools().await?;
    }
    println!("{} tools", client.tools().len());
    client.shutdown().await?;
    Ok(())
}
