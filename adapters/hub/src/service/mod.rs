//! The service that manages many MCP servers: [`Hub`] implements it, and the trait [`McpService`] describes its methods.
//!
//! ```no_run
//! # mod mcpwire { pub mod hub { pub use mcpwire_hub::{ConnectOptions, Hub, HubOptions}; pub mod config { pub use
//! # mcpwire_hub::config::McpConfig; } pub mod layout { pub use mcpwire_hub::layout::Layout; } } }
//! use mcpwire::hub::{ConnectOptions, Hub, HubOptions};
//! use mcpwire::hub::config::McpConfig;
//! use mcpwire::hub::layout::Layout;
//!
//! # #[cfg(feature = "tokio")]
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let layout = Layout::of_application("my-app").ok_or("the home directory is unknown")?;
//! let connections = ConnectOptions::default().client_info("my-app", "1.0");
//! let hub = Hub::open(HubOptions::new(layout).connections(connections)).await?;
//! hub.upsert(McpConfig::npm("everything", "@modelcontextprotocol/server-everything")).await?;
//! hub.boot().await?;
//! for tool in hub.available_tools().iter() {
//!     println!("{}: {}", tool.name, tool.tool.description.as_deref().unwrap_or_default());
//! }
//! println!("{}", hub.call("everything__echo", [("message", "hi")]).text().await?);
//! hub.shutdown_all().await?;
//! # Ok(())
//! # }
//! ```

//   hub ──▶ calls, configuration, background_tasks               methods of `HubState`, one file for each thing that a hub does
//                 │
//                 ▼
//             hub_state ──▶ servers ──▶ attempt                        the state of the servers, behind one lock
//                 ▲
//   perform ──▶ session ──▶ attempt_task                         the operations that the supervisor requests, in tasks

mod attempt;
mod attempt_task;
mod background_tasks;
mod call_builder;
mod call_hooks;
mod calls;
mod configuration;
mod containers;
mod events;
mod failures;
mod hub;
mod hub_methods;
mod hub_state;
mod login_state;
mod logins;
mod logs;
mod mcp_service;
mod options;
mod perform;
mod requests;
mod servers;
mod session;
mod status;
mod tool_cache;
mod tools;

pub use call_builder::Call;
pub use call_hooks::{CallDecision, CallQuestion, ToolCall};
pub use events::{Events, HubEvent};
pub use hub::Hub;
pub use logs::tail as log_tail;
pub use mcp_service::{McpService, McpStatus, ServiceFuture};
pub use mcpwire_tool_client::CallOptions;
pub use options::HubOptions;
pub use requests::RunningServer;
pub use servers::BootReport;
pub use status::{StatusDetail, Usage};
pub use tool_cache::cached_tools;
pub use tools::{AvailableTool, AvailableTools, FoundTool, ToolOutcome};
