//! `http_mcpwire URL N TOGETHER`: calls `echo` N times by HTTP, so many together, and says what that took.

#[path = "../took.rs"]
mod took;

use std::error::Error;

use mcpwire_tokio::{McpClient, McpServerDef};
use took::{Took, task};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, n, together) = task()?;
    let client = McpClient::connect_and_initialize(&McpServerDef::http(url)).await?;
    let arguments = serde_json::json!({"message": "x".repeat(64)});
    client.call_tool("echo", &arguments).await?;
    let took = Took::begin();
    for _ in 0..n / together {
        let mut pending = Vec::with_capacity(together);
        for _ in 0..together {
            let (client, arguments) = (client.clone(), arguments.clone());
            pending.push(tokio::spawn(async move { client.call_tool("echo", &arguments).await.map(|_| ()) }));
        }
        for one in pending {
            one.await??;
        }
    }
    took.say(n);
    client.shutdown().await?;
    Ok(())
}
