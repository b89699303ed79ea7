//! [`Worker`]: polls sources through tools.

use std::sync::Arc;

use mcpwire_hub::protocol::CallToolResult;
use mcpwire_hub::service::CallOptions;
use mcpwire_hub::{ErrorCode, HubError, McpService};
use serde_json::{Value, json};

/// A source that a worker polls: a tool and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The exposed name of the tool, such as `news__fetch_data`.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Value,
}

/// The outcome of polling a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Perception {
    /// The source returned this value.
    Seen(String),
    /// The tool failed with this message.
    ToolFailed(String),
    /// The tool does not exist. Polling again is useless until the list of tools changes.
    NoSuchTool(String),
    /// The server is temporarily unavailable: it has crashed, is restarting, or limits the rate.
    NotNow(HubError),
    /// The user must fix the configuration: credentials, arguments, or a disabled server.
    Refused(HubError),
}

/// A worker that polls all its sources in each turn, and stores the observations.
pub(crate) struct Worker {
    service: Arc<dyn McpService>,
    sources: Vec<Source>,
    memory: Vec<String>,
}

impl Worker {
    /// Creates a worker with these sources.
    pub(crate) fn new(service: Arc<dyn McpService>, sources: Vec<Source>) -> Self {
        Worker { service, sources, memory: Vec::new() }
    }

    /// Returns the observations so far.
    pub(crate) fn memory(&self) -> &[String] {
        &self.memory
    }

    /// Returns the tools in the format of a language model API: name, description, and input schema.
    pub(crate) fn tools(&self) -> Vec<Value> {
        let tools = self.service.available_tools();
        let described = |tool: mcpwire_hub::service::AvailableTool<'_>| {
            let schema: Value = serde_json::from_str(tool.tool.input_schema.get()).unwrap_or(json!({"type": "object"}));
            json!({"name": tool.name, "description": tool.tool.description, "input_schema": schema})
        };
        tools.iter().map(described).collect()
    }

    /// Polls all sources once. A source that fails does not affect the others.
    pub(crate) async fn perceive(&mut self) -> Vec<Perception> {
        let mut perceptions = Vec::new();
        for source in &self.sources {
            let perception = look(&*self.service, source).await;
            if let Perception::Seen(text) = &perception {
                self.memory.push(text.clone());
            }
            perceptions.push(perception);
        }
        perceptions
    }
}

async fn look(service: &dyn McpService, source: &Source) -> Perception {
    // The list of tools may have changed. If the server does not run, the error of the call says why.
    let Some(server) = service.find_tool_server(&source.tool) else {
        return Perception::NoSuchTool(source.tool.clone());
    };
    let called = service.call_tool_full(server, &source.tool, &source.arguments, CallOptions::new()).await;
    match called {
        Ok(outcome) => seen(&outcome.result),
        Err(error) => match error.code {
            ErrorCode::NotFound => Perception::NoSuchTool(source.tool.clone()),
            ErrorCode::ServiceUnavailable | ErrorCode::NetworkError => Perception::NotNow(error),
            ErrorCode::ValidationError | ErrorCode::Conflict => Perception::Refused(error),
        },
    }
}

fn seen(result: &CallToolResult) -> Perception {
    let text = result.text().to_string();
    if result.is_error { Perception::ToolFailed(text) } else { Perception::Seen(text) }
}
