use mcpwire_tokio::protocol::ElicitResult;
use mcpwire_tokio::{ConnectOptions, McpClient, McpServerDef};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let server = McpServerDef::new(words.next().unwrap_or_default()).args(words);

    let options = ConnectOptions::default().on_elicitation(|form, _| async move {
        println!("{}", form.message);
        Ok(ElicitResult::accept(&[("first_name", "Ada")])?)
    });
    let client = McpClient::connect_and_initialize_with(&server, options).await?;
    let result = client.call_tool("greet", ()).await?;
    println!("{}", result.text());
    client.shutdown().await?;
    Ok(())
}
