use futures::future::try_join_all;
use mcpwire::{McpServerDef, tokio::open};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let client = open(&server).await?;
    let calls = (0..10).map(|a| client.call_tool("add", [("a", a), ("b", 1)]).send());
    for result in try_join_all(calls).await? {
        println!("{}", result.text());
    }
    client.shutdown().await?;
    Ok(())
}
