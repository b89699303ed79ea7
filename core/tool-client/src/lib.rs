//! A trait to list and call the tools of [Model Context Protocol](https://modelcontextprotocol.io) servers.
//!
//! An agent framework uses a `dyn` [`ToolClient`], and depends only on this crate. All clients of mcpwire implement the
//! trait. The hub, which combines the tools of several servers, implements it, too.
//!
//! The library `mcpwire` re-exports this crate as `mcpwire::tool_client`, and the examples use that name. A framework
//! that depends on this crate alone writes `mcpwire_tool_client`, and `mcpwire_tool_client::types` for
//! `mcpwire::types`.
//!
//! ```
//! # mod mcpwire { pub mod tool_client { pub use mcpwire_tool_client::{ModelTools, ToolClient, ToolError}; } pub mod types
//! # { pub use mcpwire_tool_client::types::Json; } }
//! use mcpwire::tool_client::{ModelTools, ToolClient, ToolError};
//! use mcpwire::types::Json;
//!
//! async fn call(client: &dyn ToolClient, model_name: &str, arguments: &Json) -> Result<String, ToolError> {
//!     let tools = ModelTools::new(client.list_tools().await?);
//!     let request = Json::from_value(&tools.openai()).unwrap(); // the `tools` of a chat completion request
//!     # let _ = request;
//!     let tool = tools.name(model_name).unwrap_or(model_name);
//!     Ok(client.call_tool(tool, arguments).await?.text().into_string())
//! }
//! ```
//!
//! | item | purpose |
//! |---|---|
//! | [`ToolClient`] | the trait: lists tools, and calls them |
//! | [`CallOptions`] | timeouts, progress, cancellation and metadata of one call |
//! | [`Filtered`], [`Renamed`] | clients that offer some tools of another client, or other names of them |
//! | [`ToolError`] | the error of [`ToolClient`] |
//! | [`ModelTools`] | renames tools for the APIs of language models |
//! | [`openai`], [`anthropic`] | tool definitions and tool results in the formats of these APIs |

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod anthropic;
mod call_options;
mod client;
mod error;
#[cfg(test)]
mod fake;
mod filtered;
mod model_tools;
pub mod openai;
mod renamed;
mod text;

pub use call_options::{BoxFuture, CallOptions, CancelSignal, OnProgress, unless_cancelled};
pub use client::ToolClient;
pub use error::ToolError;
pub use filtered::Filtered;
pub use mcpwire_types as types;
pub use mcpwire_types::ErrorKind;
pub use model_tools::ModelTools;
pub use renamed::Renamed;

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
