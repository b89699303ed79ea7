//! The client side of the [Model Context Protocol](https://modelcontextprotocol.io), as a pure engine.
//!
//! The engine does no I/O. An adapter passes received bytes and the time to the engine, and obtains bytes to send,
//! events, and the next deadline. The engine does not block, spawn threads, read a clock, open files, or call code of
//! the adapter. No message of a server can make it panic. So the same engine serves blocking programs, any async
//! runtime, and tests that simulate a day of traffic in a millisecond.
//!
//! # The loop
//!
//! An adapter repeats these steps until [`Event::Closed`]:
//!
//! 1. Write the bytes of [`transmit`](stdio::Engine::transmit), and report their number with
//!    [`transmitted`](stdio::Engine::transmitted).
//! 2. Read into the buffer of [`space`](stdio::Engine::space), and report the number of bytes with
//!    [`filled`](stdio::Engine::filled). `None` means that the buffer is full: poll events first.
//! 3. If the stream has ended, report this with [`receive_eof`](stdio::Engine::receive_eof), or, if it ended with an
//!    error, with [`receive_error`](stdio::Engine::receive_error).
//! 4. Call [`poll_event`](stdio::Engine::poll_event) until it returns `None`.
//! 5. Wait until the stream is ready, but at most until [`poll_timeout`](stdio::Engine::poll_timeout).
//! 6. When that time has passed, call [`handle_timeout`](stdio::Engine::handle_timeout).
//!
//! In this example, a function plays the role of the server:
//!
//! ```
//! use mcpwire_core::stdio::Engine;
//! use mcpwire_core::{CallTool, CallToolParams, Config, Event, Json, Negotiate, RequestOptions, Timestamp};
//!
//! /// Returns the response of a server with one tool.
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
//! let now = Timestamp::ORIGIN; // an adapter passes the time since its start
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
//! # Modules
//!
//! | item | content |
//! |---|---|
//! | [`stdio`] | [`stdio::Engine`]: a session over a byte stream |
//! | `http` | `http::Engine`: a session over HTTP exchanges (with the feature `http`) |
//! | [`Session`] | handshake, requests, deadlines and cancellation, on whole messages |

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod any_engine;
#[doc(hidden)]
pub mod backoff;
mod cache;
mod client;
mod frame;
#[cfg(feature = "http")]
mod header_params;
#[cfg(feature = "http")]
pub mod http;
mod input_requests;
mod own_requests;
#[doc(hidden)]
pub mod random;
mod revisions;
mod rpc;
mod session;
pub mod stdio;
mod time;
#[cfg(feature = "http")]
mod transport_error;

/// Parts of the engine for the other crates of this workspace and their tests. They are not part of the public API
/// and change in any release.
///
/// * `AnyEngine` and the client state machines, which all adapters use.
/// * `Prepared`: a request that an adapter serializes before it locks its engine.
/// * MCP methods and data types for which `Calls` has its own operations, such as `Discover` for `Calls::initialize`.
#[doc(hidden)]
pub mod internal {
    pub use crate::any_engine::AnyEngine;
    pub use crate::client::{
        ClientState, KnownTools, OpeningOutcome, Operation, PageWalk, PingServer, RequestError, SearchProgress,
        SetLogLevel, SingleRequest, Step, SubscriptionPoll, SubscriptionReader, ToolCall, ToolListing, ToolSearch,
        send_complete,
    };
    #[cfg(feature = "http")]
    pub use crate::http::sse_decoder::{SseDecoder, SseEvent};
    pub use crate::input_requests::{InputRequest, InputRequiredResult};
    pub use crate::own_requests::{
        Discover, DiscoverResult, GetTaskResult, Initialize, InitializeParams, InitializeResult, Subscribe,
        SubscriptionsListen, Unsubscribe,
    };
    pub use crate::revisions::{ClientMethod, client_methods};
    pub use crate::session::{MessageSummary, Prepared, PreparedRequest};
    pub use mcpwire_types::{
        SubscribeParams, SubscriptionsAcknowledged, SubscriptionsListenParams, SubscriptionsListenResult,
        UnsubscribeParams,
    };
}

pub use cache::CacheLimits;
pub use client::{CacheHints, ToolList};
#[cfg(feature = "base64")]
#[doc(inline)]
pub use mcpwire_types::Base64Error;
#[doc(inline)]
pub use mcpwire_types::{
    Annotations, AudioContent, BooleanSchema, CallTool, CallToolAsTask, CallToolOutcome, CallToolParams, CallToolRaw,
    CallToolResult, CancelTask, CancelTaskResult, ClientCapabilities, ClientNotification, Complete, CompleteParams,
    CompleteResult, Completion, CompletionReference, ContentBlock, CreateMessageParams, CreateMessageResult,
    CreateTaskResult, ElicitAction, ElicitForm, ElicitOther, ElicitParams, ElicitResult, ElicitUrl,
    ElicitationComplete, EmbeddedResource, EnumOption, EnumSchema, Era, ErrorKind, Extra, FieldError, FieldProblem,
    FieldSchema, FormError, FormField, FormFields, FormSchema, GetPrompt, GetPromptParams, GetPromptResult, GetTask,
    Icon, ImageContent, Implementation, IncludeContext, InvalidItem, ItemList, Json, JsonError, ListCapability,
    ListParams, ListPrompts, ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult, ListResources,
    ListResourcesResult, ListRootsResult, ListTasks, ListTasksResult, ListTools, ListToolsResult, LogMessage,
    LoggingLevel, Method, ModelHint, ModelPreferences, MultiSelectItems, MultiSelectSchema, NameIssue, Number,
    NumberKind, NumberSchema, PagedList, Params, PeerError, PeerErrorKind, Ping, Progress, Prompt, PromptArgument,
    PromptMessage, ProtocolVersion, Raw, ReadResource, ReadResourceParams, ReadResourceResult, Requirement, Resource,
    ResourceContents, ResourceLink, ResourceTemplate, ResourceUi, ResourceUpdated, ResourcesCapability, Role, Root,
    RootsListChanged, RpcError, SamplingContent, SamplingContents, SamplingMessage, ServerCapabilities, SetLevel,
    SetLevelParams, StopReason, StringFormat, StringSchema, StructuredError, StructuredErrorKind, SubscriptionFilter,
    TASKS_EXTENSION, Task, TaskHandle, TaskParams, TaskProtocol, TaskStatus, TaskSupport, TasksCapability, TextContent,
    Tool, ToolAnnotations, ToolChoice, ToolChoiceMode, ToolExecution, ToolFailure, ToolOutput, ToolResultContent,
    ToolText, ToolUi, ToolUseContent, TraceContext, TraceContextError, UI_EXTENSION, UI_MIME_TYPE, UiCsp,
    UnknownContent, UnknownVersion, UpdateTask, UpdateTaskParams, ValidationError, Validator, is_invisible, printable,
};
pub use session::{
    CallError, Calls, ClientRequest, CloseReason, Config, ConnectError, Deadline, Event, InputError, Negotiate,
    Notification, Phase, Reply, RequestKey, RequestOptions, ResubscribePolicy, SendError, SentRequest, ServerInfo,
    ServerRequest, ServerRequestId, ServerRequestKind, Session, Stats, SubscribeOptions, SubscriptionEnd,
    SubscriptionEvent, SubscriptionKey, Tag, TaskError, TaskMode, Ticket,
};
pub use time::Timestamp;
