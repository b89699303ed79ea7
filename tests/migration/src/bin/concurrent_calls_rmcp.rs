use futures::future::try_join_all;
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);

    let client = ().serve(TokioChildProcess::new(command)?).await?;
    let calls = (0..10).map(|a| {
        let arguments = serde_json::json!({ "a": a, "b": 1 }).as_object().cloned().unwrap_or_default();
        client.call_tool(CallToolRequestParams::new("add").with_arguments(arguments))
    });
    for result in try_join_all(calls).await? {
        for content in &result.content {
            if let Some(text) = content.as_text() {
                println!("{}", text.text);
            }
        }
    }
    client.cancel().await?;
    Ok(())
}
