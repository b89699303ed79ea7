//! A worker that perceives the world through tools.

use std::sync::Arc;

use mcpwire_hub::protocol::CallToolResult;
use mcpwire_hub::service::CallOptions;
use mcpwire_hub::{ErrorCode, HubError, McpService};
use serde_json::{Value, json};

/// Where a worker looks: a tool, by the name that the service offers it under, and what to ask it.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// The name of the tool, such as `news__fetch_data`.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) arguments: Value,
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Perception {
    /// This is there.
    Seen(String),
    /// The tool ran and failed; its own words.
    ToolFailed(String),
    /// There is no such tool: looking again is of no use until the tools change.
    NoSuchTool(String),
    /// Not now: the server has crashed, is being started again, or has been asked too often.
    NotNow(HubError),
    /// Something that a person has to put right first: credentials, arguments, a server that is disabled.
    Refused(HubError),
}

/// A worker: in each turn it looks at all its sources, and remembers what it saw.
pub(crate) struct Worker {
    service: Arc<dyn McpService>,
    sources: Vec<Source>,
    memory: Vec<String>,
}

impl Worker {
    /// A worker with these sources.
    pub(crate) fn new(service: Arc<dyn McpService>, sources: Vec<Source>) -> Self {
        Worker { service, sources, memory: Vec::new() }
    }

    /// What it has seen so far.
    pub(crate) fn memory(&self) -> &[String] {
        &self.memory
    }

    /// The tools as a language model wants them: name, description, and the schema of the arguments.
    pub(crate) fn tools(&self) -> Vec<Value> {
        let tools = self.service.available_tools();
        let described = |tool: mcpwire_hub::service::AvailableTool<'_>| {
            let schema: Value = serde_json::from_str(tool.tool.input_schema.get()).unwrap_or(json!({"type": "object"}));
            json!({"name": tool.name, "description": tool.tool.description, "input_schema": schema})
        };
        tools.iter().map(described).collect()
    }

    /// One turn: looks at all sources. One that fails keeps none of the others from being looked at.
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
    // Tools come and go with their servers: of a server that does not run, the call says why.
    let Some(server) = service.find_tool_server(&source.tool) else {
        return Perception::NoSuchTool(source.tool.clone());
    };
    let called = service.call_tool_full(server, &source.tool, &source.arguments, CallOptions::new()).await;
    match called {
        Ok(outcome) => seen(&outcome.result),
        Err(error) => match error.code() {
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
