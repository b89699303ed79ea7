use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    InitializeRequestParams,
};
use rmcp::service::{RequestContext, RoleClient};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ErrorData, ServiceExt};
use tokio::process::Command;

struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> InitializeRequestParams {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        InitializeRequestParams::new(capabilities, Implementation::from_build_env())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match request {
            ElicitRequestParams::FormElicitationParams { message, .. } => {
                println!("{message}");
                let content = serde_json::json!({ "first_name": "Ada" });
                Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
            }
            _ => Ok(ElicitResult::new(ElicitationAction::Decline)),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);

    let client = Handler.serve(TokioChildProcess::new(command)?).await?;
    let result = client.call_tool(CallToolRequestParams::new("greet")).await?;
    for content in &result.content {
        if let Some(text) = content.as_text() {
            println!("{}", text.text);
        }
    }
    client.cancel().await?;
    Ok(())
}
