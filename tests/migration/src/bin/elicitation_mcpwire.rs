use mcpwire::{McpServerDef, tokio::open, types::ElicitResult};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let asks = open(&server).on_elicitation(|form, _| async move {
        println!("{}", form.message);
        Ok(ElicitResult::accept(&[("first_name", "Ada")])?)
    });
    let client = asks.await?;
    let result = client.call_tool("greet", ()).await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
