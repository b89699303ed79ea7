use mcpwire::{McpServerDef, tokio::open};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).unwrap_or_default();
    let token = std::env::var("TOKEN").unwrap_or_default();
    let server = McpServerDef::http(url).header("Authorization", format!("Bearer {token}")).header("X-Team", "blue");
    let client = open(&server).await?;

    let result = client.call_tool("echo", [("message", "hi")]).await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
