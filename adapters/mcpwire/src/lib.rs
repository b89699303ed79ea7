//! A client for the [Model Context Protocol](https://modelcontextprotocol.io) (MCP): starts MCP servers or connects to them over
//! HTTP, lists their tools, and calls them.
//!
//! ```no_run
//! use mcpwire::{McpServerDef, tokio::open};
//!
//! # async fn run() -> Result<(), mcpwire::Error> {
//! let def = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
//! let client = open(&def).client_info("my-app", "1.0").await?;
//! let result = client.call_tool("echo", [("message", "hi")]).await?;
//! println!("{}", result.text());
//! client.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! The [`guide`] has a page for each task: the first program, HTTP, logins, many servers, agents, errors, security, tests,
//! embedding.
//!
//! # Modules and features
//!
//! Each module needs the feature of its name. The features `blocking` and `tokio` are on by default: they are what most programs
//! need, and add neither TLS nor a C compiler.
//!
//! | module | contents |
//! |---|---|
//! | the root | types that all clients share: definitions of servers, options, errors, notifications |
//! | [`types`] | the protocol's data: tools, results, content, capabilities |
//! | `blocking` | the client for programs without an async runtime |
//! | `tokio`, `smol`, `async_std` | the async clients |
//! | `runtime` (feature `async`) | the async client on another runtime |
//! | `http` | servers over HTTP: tokens, certificates, proxies |
//! | `reqwest` | HTTP with a reqwest client of the program |
//! | `oauth` | OAuth logins; `file-store` keeps them in files |
//! | `hub` | many servers: configurations, secrets, supervision, one list of tools |
//! | `tool_client` | the trait `ToolClient`, which the async clients and the hub implement, for agent frameworks |
//! | `jsonschema` | validates structured output |
//! | `opentelemetry` | records spans and histograms, and sends the trace context with requests |
//! | `testkit` | a scripted server and virtual time, for tests; with `http`, servers over HTTP; with `oauth`, protected servers |
//! | `testkit::robustness` (feature `robustness`) | tests of a server's process with generated calls and misuse of the protocol |
//! | `testkit::simulation`, `testkit::strategies` (feature `proptest`) | property tests of clients, handlers and servers; `arbitrary`: for fuzzers |
//!
//! These features have no module: `messages` connects over whole messages, such as those of a WebSocket; `native-roots` trusts
//! the CA certificates of the system; `base64` decodes images, audio and binary resources; `setsid` starts servers without a
//! terminal; `tracing` emits spans and events; `hub-smol` and `keyring` are for the hub.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(any(doc, doctest))]
pub mod guide;

#[doc(inline)]
pub use mcpwire_client::{
    CallbackPanic, CancelledFuture, Cause, ClientHandler, ConnectOptions, ConnectionEnd, ConnectionEvent,
    ConnectionInfo, Direction, EnvPolicy, Error, ErrorKind, Exit, GracePeriods, HandlerCapabilities, HandlerContext,
    HandlerError, HttpSetupError, InvalidMessages, Launcher, McpServerDef, Observer, PanicSource, ProcessReport,
    ReadStream, RequestHandler, RequestInfo, RequestOutcome, ServerLaunch, ShutdownReport, SpawnError, SpawnErrorKind,
    Tools, TraceSource, Transport, WriteStream, inherited_env_names,
};
#[doc(inline)]
pub use mcpwire_core::{
    CacheLimits, CallError, CloseReason, Config, ConnectError, Event, InputError, Negotiate, Notification, RequestKey,
    RequestOptions, ResubscribePolicy, SendError, ServerInfo, ServerRequest, ServerRequestKind, Stats,
    SubscribeOptions, SubscriptionEnd, SubscriptionEvent, TaskError, TaskMode, ToolList,
};
#[doc(inline)]
pub use mcpwire_types as types;
#[doc(inline)]
pub use mcpwire_types::{CallToolResult, ContentBlock, Json, Progress, ProtocolVersion, RpcError, Tool};

/// The client for programs without an async runtime. Its methods block the calling thread.
#[cfg(feature = "blocking")]
pub mod blocking {
    /// The runtime of the background thread that sends HTTP requests, and a function that blocks until a future, such as a login,
    /// is complete.
    #[cfg(feature = "http")]
    #[doc(inline)]
    pub use mcpwire_blocking::http::{block_on, runtime};
    #[doc(inline)]
    pub use mcpwire_blocking::{
        Call, Canceller, Changes, Events, McpClient, MessageReceiver, MessageSender, Notifications, Open, Pending,
        RunningTask, Subscription, TaskOrResult, open, with_client,
    };
}

/// The client for [tokio](https://docs.rs/tokio).
#[cfg(feature = "tokio")]
pub mod tokio {
    #[doc(inline)]
    pub use mcpwire_driver::{
        Call, CallFuture, Events, Notifications, Pending, RunningTask, Subscription, TaskOrResult,
    };
    #[doc(inline)]
    pub use mcpwire_tokio::{Compat, McpClient, Open, Tokio, open, with_client};
}

/// The client for [smol](https://docs.rs/smol) and other executors on async-io.
#[cfg(feature = "smol")]
pub mod smol {
    #[doc(inline)]
    pub use mcpwire_driver::{
        Call, CallFuture, Events, Notifications, Pending, RunningTask, Subscription, TaskOrResult,
    };
    #[doc(inline)]
    pub use mcpwire_smol::{McpClient, Open, Smol, open, with_client};
}

/// The client for [async-std](https://docs.rs/async-std).
#[cfg(feature = "async-std")]
pub mod async_std {
    #[doc(inline)]
    pub use mcpwire_async_std::{AsyncStd, McpClient, Open, open, with_client};
    #[doc(inline)]
    pub use mcpwire_driver::{
        Call, CallFuture, Events, Notifications, Pending, RunningTask, Subscription, TaskOrResult,
    };
}

/// The async client on a runtime for which the program implements the trait `Runtime`.
#[cfg(feature = "async")]
pub mod runtime {
    #[cfg(feature = "http")]
    #[doc(inline)]
    pub use mcpwire_driver::BlockingTask;
    #[cfg(feature = "http")]
    #[doc(inline)]
    pub use mcpwire_driver::http::Net;
    #[doc(inline)]
    pub use mcpwire_driver::{
        Call, CallFuture, Clock, CurrentRuntime, Events, ExitWatch, McpClient, Notifications, Open, Pending,
        RunningTask, Runtime, Streams, Subscription, TaskFuture, TaskOrResult, Timer, memory, open, process,
        with_client,
    };
}

/// Options for servers over HTTP: tokens, certificates, proxies, and the program's own HTTP client.
#[cfg(feature = "http")]
pub mod http {
    #[doc(inline)]
    pub use mcpwire_client::http::*;
    #[doc(inline)]
    pub use mcpwire_core::http::{Exchange, Failure, FailureKind, Verb};
    #[doc(inline)]
    pub use mcpwire_http::{Client, ClientOptions, rustls};
}

#[cfg(feature = "oauth")]
pub mod oauth;
#[cfg(feature = "hub")]
#[doc(inline)]
pub use mcpwire_hub as hub;
#[cfg(feature = "jsonschema")]
pub mod jsonschema;
#[cfg(feature = "opentelemetry")]
pub mod opentelemetry;
#[cfg(feature = "reqwest")]
pub mod reqwest;
#[cfg(feature = "testkit")]
#[doc(inline)]
pub use mcpwire_testkit as testkit;
#[cfg(feature = "tool-client")]
#[doc(inline)]
pub use mcpwire_tool_client as tool_client;

/// Compiles the examples in the crate's README as tests. Exists only in documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
