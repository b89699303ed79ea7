//! Tests of programs that use mcpwire, without a process, a network or a clock.
//!
//! ```
//! use mcpwire_testkit::{ScriptedServer, Testkit};
//! use serde_json::json;
//!
//! let kit = Testkit::new(ScriptedServer::new().tool("echo", |args| args.member::<String>("message").unwrap_or_default()));
//! let result = kit.run(async |client| client.call_tool("echo", json!({"message": "hi"})).await).unwrap();
//! assert_eq!(result.text().as_str(), "hi");
//! assert_eq!(kit.server().calls("echo")[0].get(), r#"{"message":"hi"}"#);
//! ```
//!
//! The client is the real one, with all that it does about deadlines, cancelling, order and both eras of the protocol; what
//! is scripted is the server, and what is virtual is the time. A test of an hour's timeout takes no time, and the same test
//! does the same each time.
//!
//! | where | what |
//! |---|---|
//! | [`Testkit`] | a server, clients of it, and the time they live in |
//! | [`ScriptedServer`], [`ScriptedResponse`] | what the server does |
//! | [`RecordedMessage`], [`Cancellation`] | what it was sent |
//! | `ScriptedHttp`, `HttpAnswer` (feature `http`) | the same server over HTTP: sessions, streams, refusals |
//! | [`VirtualTime`] | a clock, timers, and tasks: time passes when nothing else can happen |
//! | [`duplex`], [`pipe`] | streams in memory |
//!
//! On another runtime, in its time, connect a client with [`ScriptedServer::connect`]: tests of code that sleeps on tokio need
//! that. [`ScriptedServer::serve`] serves a client over any other streams.

mod connect;
#[cfg(feature = "http")]
mod http;
mod kit;
mod outbox;
mod protocol;
mod receive;
mod recorded;
mod response;
mod serve_future;
mod server;
mod tasks;
mod time;
mod timeline;
mod wire;

#[cfg(feature = "http")]
pub use http::{HttpAnswer, HttpRequest, ScriptedHttp, ScriptedHttpClient};
pub use kit::Testkit;
pub use mcpwire_driver::memory::{Duplex, PipeReader, PipeWriter, duplex, pipe};
pub use recorded::{Cancellation, RecordedMessage};
pub use response::ScriptedResponse;
pub use serve_future::ServeFuture;
pub use server::ScriptedServer;
pub use time::{Sleep, VirtualTime, VirtualTimer};
