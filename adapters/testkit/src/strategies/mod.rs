//! Strategies of [`proptest`](mod@proptest) for the protocol's data, messages and byte streams (feature `proptest`).
//!
//! Each function is named after the type that it generates. Functions with a
//! [`ProtocolVersion`](mcpwire_driver::protocol::ProtocolVersion) generate values that are valid by the schema of that revision:
//! they omit members that the revision does not define. Values shrink to few members and short texts.
//!
//! ```
//! # mod mcpwire { pub mod types { pub use mcpwire_testkit::ProtocolVersion; } pub mod testkit { pub mod strategies { pub
//! # use mcpwire_testkit::strategies::tool; } } }
//! use mcpwire::testkit::strategies::tool;
//! use mcpwire::types::ProtocolVersion;
//! use proptest::prelude::*;
//!
//! proptest!(|(tool in tool(ProtocolVersion::V2025_06_18))| {
//!     prop_assert!(!tool.name.is_empty());
//! });
//! ```
//!
//! There are strategies for:
//!
//! * texts, names, URIs, JSON values, metadata and icons;
//! * content blocks and the contents of resources;
//! * tools, resources, prompts, the results that contain them, and the capabilities of servers;
//! * requests of servers to clients (elicitation, sampling, roots), and the answers;
//! * whole messages of a server, valid and nearly valid;
//! * the arguments of a tool call, by the input schema of the tool;
//! * the chunks in which bytes arrive, and delays.
//!
//! [`crate::simulation`] has strategies that generate scripts for servers and clients.

mod arguments;
mod client;
mod messages;
mod server;
mod values;

pub use arguments::arguments;
#[cfg(feature = "robustness")]
pub(crate) use arguments::{limits, resolved};
pub use client::{
    create_message_params, create_message_result, elicit_params, elicit_result, form_schema, list_roots_result, root,
    sampling_message,
};
pub use messages::{log_message, nearly_valid, notification, progress, response, rpc_error, server_message};
pub use server::{
    call_tool_result, complete_result, discover_result, get_prompt_result, implementation, initialize_result,
    list_prompts_result, list_resource_templates_result, list_resources_result, list_tools_result, prompt,
    prompt_message, read_resource_result, resource, resource_template, server_capabilities, tool, tool_annotations,
};
pub use values::{
    annotations, chunk_sizes, content_block, delay, icon, json, json_object, meta, name, number, resource_contents,
    text, uri,
};
