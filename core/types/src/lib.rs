//! The data of the [Model Context Protocol](https://modelcontextprotocol.io): parameters, results, the objects within
//! them, and the methods that they belong to.
//!
//! The library `mcpwire` re-exports all of this as `mcpwire::types`, and the examples use that name. Depend on this crate alone, as
//! `mcpwire_types`, if you only read, write or pass on messages of the protocol.
//!
//! ```
//! # mod mcpwire { pub mod types { pub use mcpwire_types::{CallToolResult, ContentBlock, Json}; } }
//! use mcpwire::types::{CallToolResult, ContentBlock, Json};
//!
//! let json = Json::parse(r#"{"content":[{"type":"text","text":"sunny"}],"isError":false}"#)?;
//! let result: CallToolResult = json.decode()?;
//! assert_eq!(result.text().as_str(), "sunny");
//! # Ok::<(), mcpwire_types::JsonError>(())
//! ```
//!
//! The comments cite the specification by page and section, for example `server/tools, "Tool Names"`. A citation
//! without a revision refers to protocol revision 2026-07-28.
//!
//! All types own their data. The field `extra` of a struct contains the members that the library does not define. The
//! variants `Unknown` and `Other` of an enum contain the values that the library does not define.
//!
//! Deserialization is lenient: an optional member with a value of the wrong type counts as absent. Types that a client
//! receives implement `serde::Deserialize`, for every self-describing format.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod apps;
mod arguments;
#[cfg(feature = "base64")]
mod binary;
mod call_result;
mod capabilities;
mod completion;
mod constructors;
mod content;
mod elicitation;
mod elicitation_check;
mod elicitation_formats;
mod elicitation_schema;
mod elicitation_text;
mod error;
mod error_kind;
mod implementation;
mod method;
mod notifications;
mod prompts;
mod resources;
mod result;
mod roots;
mod sampling;
mod sampling_content;
mod server_requests;
mod structured;
mod subscriptions;
mod tasks;
mod tools;
mod trace_context;
mod version;

pub use apps::{ResourceUi, ToolUi, UI_EXTENSION, UI_MIME_TYPE, UiCsp};
#[cfg(feature = "base64")]
pub use binary::Base64Error;
pub use call_result::{CallToolResult, ToolFailure, ToolOutput, ToolText};
pub use capabilities::{ClientCapabilities, ListCapability, Requirement, ResourcesCapability, ServerCapabilities};
pub use completion::{CompleteParams, CompleteResult, Completion, CompletionReference};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent, UnknownContent,
};
pub use elicitation::{
    ElicitAction, ElicitForm, ElicitOther, ElicitParams, ElicitResult, ElicitUrl, ElicitationComplete,
};
pub use elicitation_check::{FieldError, FieldProblem, FormError};
pub use elicitation_schema::{
    BooleanSchema, EnumOption, EnumSchema, FieldSchema, FormField, FormFields, FormSchema, MultiSelectItems,
    MultiSelectSchema, NumberKind, NumberSchema, StringFormat, StringSchema,
};
pub use error::RpcError;
pub use error_kind::ErrorKind;
pub use implementation::{Icon, Implementation};
#[doc(inline)]
pub use mcpwire_text::json::{Extra, InvalidItem, ItemList, Json, JsonError, Number, PeerError, PeerErrorKind};
#[doc(inline)]
pub use mcpwire_text::{is_invisible, printable};
pub use method::{
    CallTool, CallToolAsTask, CallToolRaw, CancelTask, ClientNotification, Complete, GetPrompt, GetTask, ListPrompts,
    ListResourceTemplates, ListResources, ListTasks, ListTools, Method, Params, Ping, Raw, ReadResource,
    RootsListChanged, SetLevel, UpdateTask,
};
pub use notifications::{LogMessage, LoggingLevel, Progress, SetLevelParams};
pub use prompts::{GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role};
pub use resources::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdated, SubscribeParams, UnsubscribeParams,
};
pub use result::PagedList;
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage, StopReason,
    ToolChoice, ToolChoiceMode,
};
pub use sampling_content::{SamplingContent, SamplingContents, ToolResultContent, ToolUseContent};
pub use structured::{StructuredError, StructuredErrorKind, ValidationError, Validator};
pub use subscriptions::{
    SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListenParams, SubscriptionsListenResult,
};
pub use tasks::{
    CallToolOutcome, CancelTaskResult, CreateTaskResult, ListTasksResult, TASKS_EXTENSION, Task, TaskHandle,
    TaskParams, TaskProtocol, TaskStatus, TaskSupport, TasksCapability, ToolExecution, UpdateTaskParams,
};
pub use tools::{CallToolParams, ListParams, ListToolsResult, NameIssue, Tool, ToolAnnotations};
pub use trace_context::{TraceContext, TraceContextError};
pub use version::{Era, ProtocolVersion, UnknownVersion};

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
