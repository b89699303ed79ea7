//! [`Hub`]: many MCP servers as one service. See [`McpService`] for what it does.
//!
//! ```no_run
//! use mcpwire_hub::config::McpConfig;
//! use mcpwire_hub::layout::Layout;
//! use mcpwire_hub::{Hub, HubOptions, McpService};
//! use serde_json::json;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let layout = Layout::of_application("my-app").ok_or("no home")?;
//! let hub = Hub::open(HubOptions::new(layout)).await?;
//! if hub.list().is_empty() {
//!     hub.create(McpConfig::npm("everything", "@modelcontextprotocol/server-everything")).await?;
//! }
//! hub.boot().await?;
//! for tool in hub.available_tools().iter() {
//!     println!("{}: {}", tool.name, tool.tool.description.as_deref().unwrap_or_default());
//! }
//! let echo = hub.resolve("everything__echo").ok_or("no such tool")?;
//! println!("{}", hub.call_tool(echo.mcp_id, &echo.tool.name, &json!({"message": "hi"})).await?);
//! hub.shutdown_all().await?;
//! # Ok(())
//! # }
//! ```

mod attempt;
mod call_failure;
mod calls;
mod changes;
mod containers;
mod detail;
mod effects;
mod events;
mod failures;
mod freshness;
mod hub;
mod interface;
mod kept;
mod limits;
mod logs;
mod noted;
mod options;
mod outcome;
mod plan;
mod shared;
mod snapshot;
mod tool_client;
mod usage;

pub use detail::StatusDetail;
pub use events::{Events, HubEvent};
pub use hub::Hub;
pub use interface::{Answer, McpService, McpStatus};
pub use logs::tail as log_tail;
pub use options::HubOptions;
pub use outcome::{CallOptions, ToolOutcome};
pub use shared::Booted;
pub use snapshot::{AvailableTool, AvailableTools, FoundTool};
pub use usage::Usage;
