//! Implements the trait `AnyAgentTool` of zed (`crates/agent/src/thread.rs`) over the smol client.
//!
//! zed implements it in `context_server_registry.rs` over its own client. A task of zed's foreground stays on one thread, and ends
//! when it is dropped: here, `LocalExecutor` stands for the foreground. zed sends no `_meta`. Left out: titles, kinds, permissions,
//! `ToolInput` (here its value), formats of schemas, `replay`, reloading the tools on `Notification::ToolsChanged`, and images.
//!
//! ```text
//! cargo run -p mcpwire --example for_zed
//! ```

mod demo;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use mcpwire::smol::McpClient;
use mcpwire::types::{ContentBlock, JsonError, Tool, printable};
use serde_json::{Value, json};
use smol::future::{or, pending};
use smol::{LocalExecutor, Task, channel};
use zed::{AgentToolOutput, AnyAgentTool, App, LanguageModelToolResultContent, SharedString, ToolCallEventStream};

/// The names and signatures of zed that this example uses.
#[expect(dead_code, reason = "zed reads the fields")]
mod zed {
    use super::{Arc, JsonError, LocalExecutor, Rc, Task, Value, channel, pending};

    pub(crate) type SharedString = Arc<str>;
    pub(crate) struct App(pub(crate) Rc<LocalExecutor<'static>>);

    impl App {
        pub(crate) fn spawn<T: 'static>(&mut self, future: impl Future<Output = T> + 'static) -> Task<T> {
            self.0.spawn(future)
        }
    }

    pub(crate) enum LanguageModelToolResultContent {
        Text(Arc<str>),
    }

    pub(crate) struct AgentToolOutput {
        pub(crate) llm_output: Vec<LanguageModelToolResultContent>,
        pub(crate) raw_output: Value,
    }

    /// Not `Send`, as in zed.
    pub(crate) struct ToolCallEventStream {
        pub(crate) cancellation_rx: channel::Receiver<()>,
        pub(crate) update_fields: Rc<dyn Fn(&str)>,
    }

    impl ToolCallEventStream {
        pub(crate) async fn cancelled_by_user(&self) {
            if self.cancellation_rx.recv().await.is_err() {
                pending::<()>().await;
            }
        }
    }

    pub(crate) trait AnyAgentTool {
        fn name(&self) -> SharedString;
        fn description(&self) -> SharedString;
        fn input_schema(&self) -> Result<Value, JsonError>;
        fn run(
            self: Arc<Self>,
            input: Value,
            event_stream: ToolCallEventStream,
            cx: &mut App,
        ) -> Task<Result<AgentToolOutput, AgentToolOutput>>;
    }
}

struct ContextServerTool {
    client: McpClient,
    tool: Tool,
}

impl AnyAgentTool for ContextServerTool {
    fn name(&self) -> SharedString {
        self.tool.name.as_str().into()
    }

    fn description(&self) -> SharedString {
        self.tool.description.as_deref().unwrap_or_default().into()
    }

    fn input_schema(&self) -> Result<Value, JsonError> {
        self.tool.input_schema.decode()
    }

    fn run(
        self: Arc<Self>,
        input: Value,
        event_stream: ToolCallEventStream,
        cx: &mut App,
    ) -> Task<Result<AgentToolOutput, AgentToolOutput>> {
        let call = self.client.call_tool(&self.tool.name, input).timeout(Duration::from_secs(60));
        cx.spawn(async move {
            // The callback of the call must be `Send`, and the event stream is not: a channel connects them.
            let (sender, fractions) = channel::unbounded();
            let call = call.on_progress(move |progress| _ = sender.try_send(progress.fraction().unwrap_or_default()));
            let update = async {
                while let Ok(fraction) = fractions.recv().await {
                    (event_stream.update_fields)(&format!("{:.0} %", 100.0 * fraction));
                }
                pending().await
            };
            let call = async { call.send().await.map_err(|error| from_error(&error.to_string())) };
            let cancelled = async {
                event_stream.cancelled_by_user().await;
                Err(from_error("MCP tool cancelled by user"))
            };
            // If the user cancels, this drops the call, and the client sends `notifications/cancelled`.
            let result = or(or(call, cancelled), update).await?;
            let texts = result.content.iter().filter_map(ContentBlock::as_text);
            let llm_output = texts.map(|text| LanguageModelToolResultContent::Text(text.into())).collect();
            let output = AgentToolOutput { llm_output, raw_output: result.text().as_str().into() };
            if result.is_error { Err(output) } else { Ok(output) }
        })
    }
}

fn from_error(text: &str) -> AgentToolOutput {
    AgentToolOutput { llm_output: vec![LanguageModelToolResultContent::Text(text.into())], raw_output: text.into() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Rc::new(LocalExecutor::new());
    smol::block_on(executor.run(run(&mut App(Rc::clone(&executor)))))
}

async fn run(cx: &mut App) -> Result<(), Box<dyn std::error::Error>> {
    let client = McpClient::connect_and_initialize(&demo::server()).await?;
    for (name, input) in [("add", json!({"a": 2, "b": 40})), ("fail", json!({})), ("slow", json!({"seconds": 2}))] {
        let tool = client.get_tool(name).ok_or("the server does not have the tool")?;
        let tool = Arc::new(ContextServerTool { client: client.clone(), tool });
        println!("{}: {} {}", printable(&tool.name()), printable(&tool.description()), tool.input_schema()?);
        // The user cancels the call as soon as the server reports progress.
        let (cancel, cancellation_rx) = channel::unbounded();
        let update_fields = Rc::new(move |title: &str| {
            println!("{title}");
            let _ = cancel.try_send(());
        });
        let output = tool.run(input, ToolCallEventStream { cancellation_rx, update_fields }, cx).await;
        println!("{:?}", output.map(|output| output.raw_output).map_err(|error| error.raw_output));
    }
    Ok(client.shutdown().await.map(drop)?)
}
