//! Implements the trait `ErasedTool` of rig (`rig_core::tool`) over any `ToolClient`: a client of one server, or a hub.
//!
//! `ErasedTool` is the object-safe form of rig's trait `Tool`, and succeeds `ToolDyn`. As in `rig-rmcp`, the context carries the
//! `_meta` of a call and the structured content of its result. rig cancels a call by dropping it. Left out: the types behind
//! `ToolContext`, `ToolOutput` and `ToolResult`, some kinds of errors, the check of liveness, and progress, which rig lacks.
//!
//! ```text
//! cargo run -p mcpwire --example for_rig
//! ```

mod demo;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcpwire::tool_client::{CallOptions, ToolClient, ToolError};
use mcpwire::types::{ContentBlock, ErrorKind, Json, Tool};
use rig::{ErasedTool, ToolContext, ToolErrorKind, ToolExecutionError, ToolResult, ToolResultContent};
use serde_json::{Value, json};

/// The names and signatures of rig that this example uses.
#[expect(dead_code, reason = "rig reads the fields")]
mod rig {
    use super::{BTreeMap, Pin, Value};

    pub(crate) type WasmBoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
    pub(crate) type ToolOutput = Vec<ToolResultContent>;
    pub(crate) type ToolResult = Result<ToolOutput, ToolExecutionError>;

    #[derive(Default)]
    pub(crate) struct ToolContext {
        pub(crate) inbound: BTreeMap<&'static str, Value>,
        pub(crate) result: BTreeMap<&'static str, Value>,
    }

    #[derive(Debug)]
    pub(crate) enum ToolResultContent {
        Text(String),
        Image(String, String),
        Json { value: Value },
    }

    #[derive(Debug)]
    pub(crate) enum ToolErrorKind {
        InvalidArgs,
        Timeout,
        NotFound,
        Provider,
        Other,
    }

    #[derive(Debug)]
    pub(crate) struct ToolExecutionError {
        pub(crate) kind: ToolErrorKind,
        pub(crate) message: String,
        pub(crate) model_output: Option<ToolOutput>,
    }

    pub(crate) trait ErasedTool: Send + Sync {
        fn name(&self) -> String;
        fn description(&self) -> String;
        fn parameters(&self) -> Value;
        fn execute<'a>(&'a self, args: String, context: &'a mut ToolContext) -> WasmBoxedFuture<'a, ToolResult>;
    }
}

struct McpTool {
    definition: Tool,
    client: Arc<dyn ToolClient>,
    timeout: Duration,
}

impl ErasedTool for McpTool {
    fn name(&self) -> String {
        self.definition.name.clone()
    }

    fn description(&self) -> String {
        self.definition.description.clone().unwrap_or_default()
    }

    fn parameters(&self) -> Value {
        self.definition.input_schema.decode().unwrap_or_default()
    }

    fn execute<'a>(&'a self, args: String, context: &'a mut ToolContext) -> rig::WasmBoxedFuture<'a, ToolResult> {
        Box::pin(async move {
            let args = Json::parse(if args.is_empty() { "{}".into() } else { args })
                .map_err(|error| failure(ToolErrorKind::InvalidArgs, &error))?;
            let mut options = CallOptions::new().timeout(self.timeout).total_timeout(self.timeout);
            if let Some(meta) = context.inbound.get("rmcp.meta") {
                options = options.meta(meta.clone());
            }
            let call = self.client.call_tool_with(&self.definition.name, &args, options);
            let result = call.await.map_err(|error| classify(&error))?;
            if let Some(structured) = &result.structured_content {
                context.result.insert("rmcp.structured_content", structured.decode().unwrap_or_default());
            }
            let output = result.content.iter().map(content).collect();
            let error = failure(ToolErrorKind::Other, &"the tool reported an error");
            if result.is_error { Err(ToolExecutionError { model_output: Some(output), ..error }) } else { Ok(output) }
        })
    }
}

fn failure(kind: ToolErrorKind, message: &impl ToString) -> ToolExecutionError {
    ToolExecutionError { kind, message: message.to_string(), model_output: None }
}

fn classify(error: &ToolError) -> ToolExecutionError {
    let kind = match error.kind() {
        ErrorKind::Timeout => ToolErrorKind::Timeout,
        ErrorKind::ToolNotFound | ErrorKind::ServerNotFound => ToolErrorKind::NotFound,
        _ => ToolErrorKind::Provider,
    };
    failure(kind, error)
}

fn content(block: &ContentBlock) -> ToolResultContent {
    match block {
        ContentBlock::Text(text) => ToolResultContent::Text(text.text.clone()),
        ContentBlock::Image(image) => ToolResultContent::Image(image.data.clone(), image.mime_type.clone()),
        block => ToolResultContent::Json { value: serde_json::to_value(block).unwrap_or_default() },
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mcp = mcpwire::tokio::McpClient::connect_and_initialize(&demo::server()).await?;
    let client: Arc<dyn ToolClient> = Arc::new(mcp.clone());
    let mut tools: Vec<Box<dyn ErasedTool>> = Vec::new();
    for definition in client.list_tools().await? {
        tools.push(Box::new(McpTool { definition, client: Arc::clone(&client), timeout: Duration::from_millis(500) }));
    }
    let slow = r#"{"seconds":60}"#;
    let calls = [("weather", r#"{"city":"Oslo"}"#, 5000), ("fail", "", 5000), ("slow", slow, 5000), ("slow", slow, 50)];
    for (name, args, limit) in calls {
        let tool = tools.iter().find(|tool| tool.name() == name).ok_or("the server does not have the tool")?;
        println!("{}: {} {}", tool.name(), tool.description(), tool.parameters());
        let mut context = ToolContext::default();
        context.inbound.insert("rmcp.meta", json!({"com.example/trace": "1"}));
        // At the limit, this drops the call, and the client sends `notifications/cancelled`.
        let result = tokio::time::timeout(Duration::from_millis(limit), tool.execute(args.into(), &mut context)).await;
        println!("  {result:?} {:?}", context.result);
    }
    Ok(mcp.shutdown().await.map(drop)?)
}
