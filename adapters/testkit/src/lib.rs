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
//! The client is the real one, with its deadlines, cancellation and both eras of the protocol. The server is scripted, and the time
//! is virtual. So a test of a timeout of an hour takes milliseconds, and each run of a test is the same.
//!
//! | where | what |
//! |---|---|
//! | [`Testkit`] | a server, its clients, and their virtual time |
//! | [`ScriptedServer`], [`ScriptedResponse`] | how the server responds |
//! | [`RecordedMessage`], [`Cancellation`] | the messages that the server has received |
//! | [`VirtualTime`] | a runtime with a clock, timers and tasks. Time advances when no task can run |
//! | [`duplex`], [`pipe`] | in-memory streams |
//!
//! [`ScriptedServer::connect`] connects a client on another runtime, in the time of that runtime. Tests of code that sleeps on tokio
//! need this. [`ScriptedServer::serve`] serves a client over any other streams.

mod kit;
mod outbox;
mod protocol;
mod recorded;
mod response;
mod serve_future;
mod server;
mod tasks;
mod time;
mod wire;

pub use kit::Testkit;
pub use mcpwire_driver::memory::{Duplex, PipeReader, PipeWriter, duplex, pipe};
pub use recorded::{Cancellation, RecordedMessage};
pub use response::ScriptedResponse;
pub use serve_future::ServeFuture;
pub use server::ScriptedServer;
pub use time::{Sleep, VirtualTime, VirtualTimer};
