use std::time::Duration;

use rmcp::service::{NotificationContext, RoleClient};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceExt};
use tokio::process::Command;

struct Handler;

impl ClientHandler for Handler {
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        match context.peer.list_all_tools().await {
            Ok(tools) => println!("{} tools", tools.len()),
            Err(error) => eprintln!("{error}"),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);

    let mut client = Handler.serve(TokioChildProcess::new(command)?).await?;
    println!("{} tools", client.list_all_tools().await?.len());
    tokio::time::sleep(Duration::from_secs(3)).await;
    client.close().await?;
    Ok(())
}
