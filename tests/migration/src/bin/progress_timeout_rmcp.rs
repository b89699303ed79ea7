use std::time::Duration;

use futures::StreamExt;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ProgressNotificationParam, ServerResult};
use rmcp::service::{NotificationContext, PeerRequestOptions, RoleClient};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ServiceExt};
use tokio::process::Command;

struct Handler(ProgressDispatcher);

impl ClientHandler for Handler {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.handle_notification(params).await;
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);

    let client = Handler(ProgressDispatcher::new()).serve(TokioChildProcess::new(command)?).await?;
    let arguments = serde_json::json!({ "seconds": 2 }).as_object().cloned().unwrap_or_default();
    let call = CallToolRequestParams::new("slow").with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(call));
    let options = PeerRequestOptions::with_timeout(Duration::from_secs(1))
        .reset_timeout_on_progress()
        .with_max_total_timeout(Duration::from_secs(30));
    let handle = client.send_request_with_option(request, options).await?;
    let mut progress = client.service().0.subscribe(handle.progress_token.clone()).await;
    let reports = tokio::spawn(async move {
        while let Some(report) = progress.next().await {
            println!("{} of {:?}", report.progress, report.total);
        }
    });
    let result = handle.await_response().await?;
    reports.abort();
    if let ServerResult::CallToolResult(result) = result {
        for content in &result.content {
            if let Some(text) = content.as_text() {
                println!("{}", text.text);
            }
        }
    }
    client.cancel().await?;
    Ok(())
}
