use mcpwire::{McpServerDef, tokio::open};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let client = open(&server).await?;
    for tool in client.tools() {
        println!("{}", tool.name);
    }
    let result = client.call_tool("echo", [("message", "hi")]).await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
