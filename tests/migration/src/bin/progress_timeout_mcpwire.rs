use std::time::Duration;

use mcpwire::{McpServerDef, tokio::open};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let client = open(&server).await?;
    let result = client
        .call_tool("slow", [("seconds", 2)])
        .timeout(Duration::from_secs(1))
        .total_timeout(Duration::from_secs(30))
        .on_progress(|report| println!("{} of {:?}", report.progress, report.total))
        .await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
