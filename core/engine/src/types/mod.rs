//! The data types of the protocol: parameters, results and the objects within them.
//!
//! The comments cite the specification by page and section, for example `server/tools, "Tool Names"`. A citation
//! without a revision refers to protocol revision 2026-07-28.
//!
//! All types own their data. The field `extra` of a struct contains the members that the library does not define. The
//! variants `Unknown` and `Other` of an enum contain the values that the library does not define.
//!
//! Deserialization is lenient: an optional member with a value of the wrong type counts as absent. Types that the
//! client receives implement `serde::Deserialize`, for every self-describing format.

pub(crate) mod object;

mod apps;
mod call_result;
mod capabilities;
mod client_capabilities;
mod completion;
mod content;
mod elicitation;
mod elicitation_check;
mod elicitation_formats;
mod elicitation_schema;
mod elicitation_text;
mod implementation;
mod input_required;
mod item_list;
mod lifecycle;
mod logging;
pub(crate) mod method;
mod notifications;
mod open_enum;
mod prompts;
mod resource_contents;
mod resources;
mod result;
pub mod revisions;
mod roots;
mod sampling;
mod sampling_check;
mod sampling_content;
mod subscriptions;
pub(crate) mod tasks;
mod tools;
mod trace_context;
mod version;

pub use apps::{ResourceUi, ToolUi, UI_EXTENSION, UI_MIME_TYPE, UiCsp};
pub use call_result::CallToolResult;
pub use capabilities::{ClientCapabilities, ListCapability, ResourcesCapability, ServerCapabilities};
pub(crate) use client_capabilities::{ELICIT, LIST_ROOTS, SAMPLE, allows_mode};
pub use completion::{CompleteParams, CompleteResult, Completion, CompletionReference};
pub use content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent, UnknownContent,
};
pub use elicitation::{
    ElicitAction, ElicitForm, ElicitOther, ElicitParams, ElicitResult, ElicitUrl, ElicitationComplete,
};
pub(crate) use elicitation::{FORM, elicitation_mode};
pub use elicitation_check::{FieldError, FieldProblem, FormError};
pub use elicitation_schema::{
    BooleanSchema, EnumOption, EnumSchema, FieldSchema, FormField, FormFields, FormSchema, MultiSelectItems,
    MultiSelectSchema, NumberKind, NumberSchema, StringFormat, StringSchema,
};
pub use implementation::{Icon, Implementation};
pub use input_required::{InputRequest, InputRequiredResult};
pub(crate) use item_list::MAX_ENTRIES;
pub use item_list::{InvalidItem, ItemList};
pub use lifecycle::{DiscoverResult, InitializeParams, InitializeResult};
pub use logging::{LoggingLevel, SetLevelParams};
pub use notifications::{LogMessage, Progress};
pub use object::Extra;
pub use prompts::{GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role};
pub use resource_contents::ResourceContents;
pub use resources::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams, ReadResourceResult, Resource,
    ResourceTemplate, ResourceUpdated, SubscribeParams, UnsubscribeParams,
};
pub use result::PagedList;
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage, StopReason,
    ToolChoice, ToolChoiceMode,
};
pub(crate) use sampling_check::check_messages;
pub use sampling_content::{SamplingContent, SamplingContents, ToolResultContent, ToolUseContent};
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
