//! The protocol's data, by area.
//!
//! All types are owned, and keep what they do not know: objects in `extra`, open enumerations in an `Unknown` or `Other`
//! variant. They are read from JSON text in memory, in one pass, and a value of the wrong type in an optional place counts
//! as absent.

pub(crate) mod lenient;
pub(crate) mod object;

mod apps;
mod call_result;
mod capabilities;
mod completion;
mod content;
mod implementation;
mod input_required;
mod kind;
mod lifecycle;
mod listed;
mod logging;
mod notices;
mod prompts;
mod resource_contents;
mod resources;
mod result_type;
mod roots;
mod structured;
mod tools;
mod version;

pub use apps::{ResourceUi, ToolUi, UI_EXTENSION, UI_MIME_TYPE, UiCsp};
pub use capabilities::{ClientCapabilities, ListCapability, ResourcesCapability, ServerCapabilities};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents, ResourceLink,
    TextContent, UnknownContent,
};
pub use implementation::{Icon, Implementation};
pub use input_required::{InputRequest, InputRequiredResult};
pub use lifecycle::{DiscoverResult, InitializeParams, InitializeResult};
pub use listed::{Listed, Rejected};
pub use logging::SetLevelParams;
pub use notices::{LogMessage, LoggingLevel, Progress};
pub use object::Extra;
pub use prompts::{GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role};
pub use resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult, Resource,
    ResourceTemplate, ResourceUpdated, SubscribeParams, UnsubscribeParams,
};
pub use roots::{ListRootsResult, Root};
pub use structured::{Invalid, StructuredError, StructuredErrorKind, Validator};
pub use tools::{CallToolParams, CallToolResult, ListParams, ListToolsResult, NameIssue, Tool, ToolAnnotations};
pub use version::{Era, ProtocolVersion, UnknownVersion};
