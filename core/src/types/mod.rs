//! The protocol's data, by area.
//!
//! All types are owned, and keep what they do not know: objects in `extra`, open enumerations in an `Unknown` or `Other`
//! variant. They are read from JSON text in memory, in one pass, and a value of the wrong type in an optional place counts
//! as absent.

pub(crate) mod lenient;
pub(crate) mod object;

mod call_result;
mod capabilities;
mod content;
mod implementation;
mod kind;
mod lifecycle;
mod listed;
mod notices;
mod resource_contents;
mod tools;
mod version;

pub use capabilities::{ClientCapabilities, ListCapability, ResourcesCapability, ServerCapabilities};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents, ResourceLink,
    TextContent, UnknownContent,
};
pub use implementation::{Icon, Implementation};
pub use lifecycle::{DiscoverResult, InitializeParams, InitializeResult};
pub use listed::{Listed, Rejected};
pub use notices::{LogMessage, LoggingLevel, Progress};
pub use object::Extra;
pub use tools::{CallToolParams, CallToolResult, ListParams, ListToolsResult, Tool, ToolAnnotations};
pub use version::{Era, ProtocolVersion, UnknownVersion};
