use std::time::Duration;

use mcpwire::{McpServerDef, Notification, tokio::open};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let client = open(&server).await?;
    println!("{} tools", client.tools().len());
    let (watched, mut notifications) = (client.clone(), client.notifications());
    tokio::spawn(async move {
        while let Some(notification) = notifications.next().await {
            if let Notification::ToolsChanged = notification {
                match watched.list_tools().await {
                    Ok(tools) => println!("{} tools", tools.len()),
                    Err(error) => eprintln!("{error}"),
                }
            }
        }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    client.shutdown().await?;
    Ok(())
}
