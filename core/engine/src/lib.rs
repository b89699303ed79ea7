//! The client side of the [Model Context Protocol](https://modelcontextprotocol.io), as a pure engine.
//!
//! The engine does no I/O. An embedder hands it bytes and the time; it hands back bytes to send, events, and its next
//! deadline. It waits for nothing, spawns nothing, reads no clock and no file, calls no code of the embedder's, and never
//! panics on what a server sends. So one engine serves blocking programs, any async runtime, and a test that plays a day
//! of traffic in a millisecond.
//!
//! # The loop
//!
//! Six steps, in any order, until nothing is left to do:
//!
//! 1. write what [`transmit`](stdio::Engine::transmit) shows, and tell how much with [`transmitted`](stdio::Engine::transmitted);
//! 2. read into [`space`](stdio::Engine::space), and tell how much with [`filled`](stdio::Engine::filled);
//! 3. tell the end of the stream with [`receive_eof`](stdio::Engine::receive_eof);
//! 4. take events from [`poll_event`](stdio::Engine::poll_event) until there is none;
//! 5. wait for the stream, but not beyond [`poll_timeout`](stdio::Engine::poll_timeout);
//! 6. when that has passed, call [`handle_timeout`](stdio::Engine::handle_timeout).
//!
//! Here the stream is a server of three lines:
//!
//! ```
//! use mcpwire_core::stdio::Engine;
//! use mcpwire_core::{CallTool, CallToolParams, Config, Event, Json, Negotiate, RequestOptions, Timestamp};
//!
//! /// Answers as a server would that offers one tool.
//! fn server(line: &str) -> Option<String> {
//!     let request: serde_json::Value = serde_json::from_str(line).ok()?;
//!     let id = request.get("id")?;
//!     Some(match request["method"].as_str()? {
//!         "initialize" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"tiny","version":"1"}}}}}}"#),
//!         "tools/call" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hello"}}]}}}}"#),
//!         _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found"}}}}"#),
//!     } + "\n")
//! }
//!
//! let mut engine = Engine::new(Config::new("example", "1.0"));
//! let now = Timestamp::ORIGIN; // an adapter takes the time since it started
//! engine.calls().initialize(now)?;
//! let mut ticket = None;
//! let text = loop {
//!     let sent = String::from_utf8_lossy(engine.transmit()).into_owned();
//!     engine.transmitted(sent.len());
//!     for line in sent.lines() {
//!         if let Some(answer) = server(line) {
//!             engine.receive(answer.as_bytes(), now);
//!         }
//!     }
//!     match engine.poll_event() {
//!         Some(Event::Connected) => {
//!             let arguments = Json::parse("{}")?;
//!             let call = CallToolParams { name: "hello", arguments: &arguments };
//!             ticket = Some(engine.calls().request::<CallTool>(&call, &RequestOptions::new(), now)?);
//!         }
//!         Some(Event::Reply(reply)) => {
//!             let result = ticket.take().expect("it was sent").decode(reply)?;
//!             break result.text().into_string();
//!         }
//!         Some(_) => {}
//!         None => assert!(!engine.transmit().is_empty(), "an adapter would wait here"),
//!     }
//! };
//! assert_eq!(text, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The map
//!
//! | where | what |
//! |---|---|
//! | [`stdio`] | [`stdio::Engine`]: a session and the bytes of a stream |
//! | `http` | the same for HTTP: a session and the exchanges that carry its messages (with the feature `http`) |
//! | `session` | [`Session`]: handshake, requests and answers, deadlines, cancelling; on whole messages |
//! | `rpc` | JSON-RPC: the first look at a message, the one pass that reads it, writing ours |
//! | `frame` | lines in a buffer |
//! | `types` | the protocol's data, [`Tool`] to [`ContentBlock`] |
//! | `method` | [`Method`] and [`Notice`]: what can be asked and told |
//! | `revisions` | what each revision of the protocol has, lacks and renames |
//! | `extract` | from an answer to its text: [`Extracted`], [`ToolOutput`] |
//! | [`shutdown`] | the ladder on which a process is ended |
//! | `client` | what the clients of this workspace share: walk the pages of a list, find a tool, call it |
//! | `cache` | answers that are kept for as long as they hold |
//! | `ending` | when a stream is at its end |

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod any;
mod backoff;
mod cache;
mod client;
mod ending;
mod error;
mod extract;
mod frame;
#[cfg(feature = "http")]
mod header_params;
#[cfg(feature = "http")]
pub mod http;
mod json;
mod random;
mod request_check;
mod rpc;
mod session;
pub mod shutdown;
mod sorted;
pub mod stdio;
mod structured;
mod text;
mod time;
#[cfg(feature = "http")]
mod transport_error;
mod types;
mod url;

/// Parts of the engine that the crates of this workspace and their tests use. Not part of the public API: they change in any release.
///
/// * `AnyEngine`, `Ending` and the client machines: what the adapters share.
/// * `Prepared`: requests that an adapter serialises before it takes the lock of its engine.
/// * Methods and data that the engine sends and reads itself: `Calls` has an operation for each of them.
/// * Backoff, random numbers and the JSON reader: the supervisor uses them too.
#[doc(hidden)]
pub mod internal {
    pub use crate::any::AnyEngine;
    pub use crate::backoff::exponential;
    pub use crate::client::{
        KnownTools, PageWalk, Pages, RequestError, Searched, Step, ToolCall, ToolListing, ToolSearch,
    };
    pub use crate::ending::Ending;
    #[cfg(feature = "http")]
    pub use crate::http::{SseDecoder, SseEvent};
    pub use crate::json::error::{ReadError, Result as ReadResult};
    pub use crate::json::read::{Reader, Text};
    pub use crate::random::{XorShift64, mix64};
    pub use crate::session::{Prepared, PreparedRequest};
    pub use crate::types::method::{Discover, GetTaskResult, Initialize, Subscribe, SubscriptionsListen, Unsubscribe};
    pub use crate::types::{
        DiscoverResult, InitializeParams, InitializeResult, InputRequest, InputRequiredResult, SubscribeParams,
        SubscriptionsAcknowledged, SubscriptionsListenParams, SubscriptionsListenResult, UnsubscribeParams, revisions,
    };
}

pub use cache::CacheLimits;
pub use client::{CacheHints, ToolList};
pub use error::{PeerError, PeerErrorKind, RpcError};
pub use extract::{Extracted, ToolFailure, ToolOutput};
pub use json::{Json, JsonError, Number};
pub use method::{
    CallTool, CallToolAsTask, CallToolRaw, CancelTask, Complete, GetPrompt, GetTask, ListPrompts,
    ListResourceTemplates, ListResources, ListTasks, ListTools, Method, Notice, Params, Ping, Raw, ReadResource,
    RootsListChanged, SetLevel, UpdateTask,
};
pub use session::{
    Ask, AskKey, AskRequest, CallError, Calls, Closed, Config, ConnectError, Deadline, Event, InputError, Negotiate,
    Notification, Phase, Reopen, Reply, RequestKey, RequestOptions, SendError, ServerInfo, Session, Stats,
    SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionKey, TaskFault, TaskMode, Ticket,
};
pub use structured::{Invalid, StructuredError, StructuredErrorKind, Validator};
pub use text::printable;
pub use time::Timestamp;
pub use types::revisions::Need;
pub use types::{
    Annotations, AudioContent, BooleanSchema, CallToolOutcome, CallToolParams, CallToolResult, CancelTaskResult,
    ClientCapabilities, CompleteParams, CompleteResult, Completion, CompletionReference, ContentBlock,
    CreateMessageParams, CreateMessageResult, CreateTaskResult, ElicitAction, ElicitForm, ElicitOther, ElicitParams,
    ElicitResult, ElicitUrl, ElicitationComplete, EmbeddedResource, EnumOption, EnumSchema, Era, Extra, FieldError,
    FieldProblem, FieldSchema, FormError, FormField, FormFields, FormSchema, GetPromptParams, GetPromptResult, Icon,
    ImageContent, Implementation, IncludeContext, ListCapability, ListParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListTasksResult, ListToolsResult, Listed,
    LogMessage, LoggingLevel, ModelHint, ModelPreferences, MultiSelectItems, MultiSelectSchema, NameIssue, NumberKind,
    NumberSchema, PagedList, Progress, Prompt, PromptArgument, PromptMessage, ProtocolVersion, ReadResourceParams,
    ReadResourceResult, Rejected, Resource, ResourceContents, ResourceLink, ResourceTemplate, ResourceUi,
    ResourceUpdated, ResourcesCapability, Role, Root, SamplingContent, SamplingContents, SamplingMessage,
    ServerCapabilities, SetLevelParams, StopReason, StringFormat, StringSchema, SubscriptionFilter, TASKS_EXTENSION,
    Task, TaskForm, TaskHandle, TaskParams, TaskStatus, TaskSupport, TasksCapability, TextContent, Tool,
    ToolAnnotations, ToolChoice, ToolChoiceMode, ToolExecution, ToolResultContent, ToolUi, ToolUseContent,
    TraceContext, TraceContextError, UI_EXTENSION, UI_MIME_TYPE, UiCsp, UnknownContent, UnknownVersion,
    UpdateTaskParams,
};
use types::{method, revisions};
