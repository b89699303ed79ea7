//! Implements the trait `McpClientTrait` of goose (`crates/goose/src/agents/mcp_client.rs`) over the tokio client.
//!
//! goose implements it over rmcp. Here the types of mcpwire take the place of rmcp's. Left out: resources and prompts, which are as
//! `list_tools` is; `get_moim`; goose's answers to sampling, elicitation and roots, which are options of `ConnectOptions`.
//!
//! ```text
//! cargo run -p mcpwire --example for_goose
//! ```

mod demo;

use std::time::Duration;

use async_trait::async_trait;
use goose::{Error, JsonObject, McpClientTrait, ToolCallContext};
use mcpwire::types::{ListParams, ListTools, ListToolsResult, printable};
use mcpwire::{CallError, CallToolResult, ConnectOptions, Notification, RequestOptions, ServerInfo};
use serde_json::json;
use tokio::sync::mpsc::{self, Receiver};
use tokio_util::sync::CancellationToken;

/// The names and signatures of goose that this example uses.
mod goose {
    use super::{CallToolResult, CancellationToken, ListToolsResult, Notification, Receiver, ServerInfo, async_trait};

    pub(crate) type JsonObject = serde_json::Map<String, serde_json::Value>;

    /// In goose, this is the error of rmcp.
    pub(crate) type Error = mcpwire::Error;

    pub(crate) struct ToolCallContext {
        pub(crate) session_id: String,
        pub(crate) working_dir: Option<String>,
        pub(crate) tool_call_request_id: Option<String>,
    }

    #[async_trait]
    pub(crate) trait McpClientTrait: Send + Sync {
        async fn list_tools(
            &self,
            session_id: &str,
            next_cursor: Option<String>,
            cancel_token: CancellationToken,
        ) -> Result<ListToolsResult, Error>;
        async fn call_tool(
            &self,
            ctx: &ToolCallContext,
            name: &str,
            arguments: Option<JsonObject>,
            cancel_token: CancellationToken,
        ) -> Result<CallToolResult, Error>;
        fn get_info(&self) -> Option<&ServerInfo>;
        async fn subscribe(&self) -> Receiver<Notification>;
    }
}

struct McpClient {
    client: mcpwire::tokio::McpClient,
    timeout: Duration,
}

impl McpClient {
    /// Returns the options of a request: the session in `_meta`, and goose's timeout, which progress does not extend.
    fn options(&self, session_id: &str, mut meta: JsonObject) -> RequestOptions {
        meta.insert("agent-session-id".into(), session_id.into());
        RequestOptions::new().timeout(self.timeout).total_timeout(self.timeout).meta(json!(meta).into())
    }

    fn cancelled(&self, method: &'static str) -> Error {
        Error::new(self.client.server_name(), CallError::Cancelled { method: method.into() })
    }
}

#[async_trait]
impl McpClientTrait for McpClient {
    async fn list_tools(
        &self,
        session_id: &str,
        next_cursor: Option<String>,
        cancel: CancellationToken,
    ) -> Result<ListToolsResult, Error> {
        let params = ListParams { cursor: next_cursor.as_deref() };
        let options = self.options(session_id, JsonObject::new());
        let request = self.client.request::<ListTools>(&params, &options);
        cancel.run_until_cancelled(request).await.unwrap_or_else(|| Err(self.cancelled("tools/list")))
    }

    async fn call_tool(
        &self,
        ctx: &ToolCallContext,
        name: &str,
        arguments: Option<JsonObject>,
        cancel: CancellationToken,
    ) -> Result<CallToolResult, Error> {
        let ids = [("agent-working-dir", &ctx.working_dir), ("agent-tool-call-request-id", &ctx.tool_call_request_id)];
        let meta = ids.into_iter().filter_map(|(key, id)| Some((key.into(), id.as_deref()?.into()))).collect();
        // The subscribers get the progress.
        let options = self.options(&ctx.session_id, meta).progress();
        let call = self.client.call_tool(name, arguments.unwrap_or_default()).options(options).send();
        // If the token is cancelled first, this drops the call, and the client sends `notifications/cancelled`.
        cancel.run_until_cancelled(call).await.unwrap_or_else(|| Err(self.cancelled("tools/call")))
    }

    fn get_info(&self) -> Option<&ServerInfo> {
        self.client.server_info()
    }

    async fn subscribe(&self) -> Receiver<Notification> {
        let (sender, receiver) = mpsc::channel(16);
        let mut notifications = self.client.notifications();
        tokio::spawn(async move {
            while let Some(notification) = notifications.next().await
                && sender.send(notification).await.is_ok()
            {}
        });
        receiver
    }
}

fn show(result: Result<CallToolResult, Error>) {
    println!("{}", result.map_or_else(|error| error.to_string(), |result| result.text().to_string()));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), mcpwire::Error> {
    let options = ConnectOptions::default().client_info("goose", "1.0");
    let client = mcpwire::tokio::McpClient::connect_and_initialize_with(&demo::server(), options).await?;
    let mut goose = McpClient { client: client.clone(), timeout: Duration::from_secs(300) };
    let tools = goose.list_tools("session", None, CancellationToken::new()).await?.tools;
    println!("{}: {} tools", printable(goose.get_info().map_or("", ServerInfo::name)), tools.items.len());
    let [session_id, id] = ["session", "call"].map(String::from);
    let ctx = ToolCallContext { session_id, working_dir: None, tool_call_request_id: Some(id) };
    let [sum, two_seconds] = [json!({"a": 2, "b": 40}), json!({"seconds": 2})].map(|value| value.as_object().cloned());
    show(goose.call_tool(&ctx, "add", sum, CancellationToken::new()).await);
    // Cancels the next call as soon as the server reports progress.
    let (mut notifications, cancel) = (goose.subscribe().await, CancellationToken::new());
    let token = cancel.clone();
    tokio::spawn(async move {
        while let Some(Notification::Progress { progress, .. }) = notifications.recv().await {
            println!("progress: {}", progress.progress);
            token.cancel();
        }
    });
    show(goose.call_tool(&ctx, "slow", two_seconds.clone(), cancel).await);
    goose.timeout = Duration::from_millis(100);
    show(goose.call_tool(&ctx, "slow", two_seconds, CancellationToken::new()).await);
    client.shutdown().await.map(drop)
}
