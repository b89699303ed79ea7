//! A test kit for programs that use mcpwire: a scripted MCP server in memory, and virtual time. Tests need no process, no network
//! and no real clock.
//!
//! ```
//! # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::{ScriptedServer, Testkit}; } }
//! use mcpwire::testkit::{ScriptedServer, Testkit};
//! use serde_json::json;
//!
//! let kit = Testkit::new(ScriptedServer::new().tool("echo", |args| args.member::<String>("message").unwrap_or_default()));
//! let result = kit.run(async |client| client.call_tool("echo", json!({"message": "hi"})).await).unwrap();
//! assert_eq!(result.text().as_str(), "hi");
//! assert_eq!(kit.server().calls("echo")[0].get(), r#"{"message":"hi"}"#);
//! ```
//!
//! Tests use the real client with its deadlines, cancellation, message order and both eras of the protocol. Only the server is
//! scripted. Time is virtual: a test of a one-hour timeout takes no real time, and all runs of a test are identical.
//!
//! The library `mcpwire` re-exports this crate as `mcpwire::testkit`, and the examples use that name. A program that depends on
//! this crate itself writes `mcpwire_testkit`.
//!
//! | item | purpose |
//! |---|---|
//! | [`Testkit`] | a server and its clients, in virtual time |
//! | [`ScriptedServer`], [`ScriptedResponse`] | the script of the server |
//! | [`RecordedMessage`], [`Cancellation`] | the messages that the server has received |
//! | `ScriptedHttp`, `HttpAnswer` (feature `http`) | the same server over HTTP: sessions, streams, any HTTP response |
//! | `authorization` (feature `authorization`; in `mcpwire`: `oauth`) | an authorization server, and MCP servers that require its tokens |
//! | `simulation` (feature `proptest`) | tests of client code, handlers or servers against generated scripts, which shrink |
//! | `strategies` (feature `proptest`) | strategies for the protocol's data and messages |
//! | `robustness` (feature `robustness`) | tests of a server's process: generated calls, and misuse of the protocol |
//! | `from_bytes` (feature `arbitrary`) | values of these strategies for fuzzers |
//! | [`VirtualTime`] | a clock, timers and tasks; the time advances only while all tasks wait |
//! | [`duplex`], [`pipe`] | streams in memory |
//!
//! Code that sleeps on tokio must run on tokio. For such code, connect a client with [`ScriptedServer::connect`], which uses the
//! runtime and the time of the caller. [`ScriptedServer::serve`] serves a client over any other pair of streams.

#![cfg_attr(docsrs, feature(doc_cfg))]

/// Defines the settings of a server: methods that pass a closure to the method `change` of the server, which calls the closure
/// with the state.
macro_rules! changes {
    ($( $(#[$attribute:meta])* fn $name:ident(&$this:ident $(, $argument:ident: $type:ty)*) => $change:expr; )*) => { $(
        $(#[$attribute])*
        pub fn $name(&$this $(, $argument: $type)*) -> Self {
            $this.change($change)
        }
    )* };
    ($( $(#[$attribute:meta])* fn $name:ident($this:ident $(, $argument:ident: $type:ty)*) => $change:expr; )*) => { $(
        $(#[$attribute])*
        pub fn $name($this $(, $argument: $type)*) -> Self {
            $this.change($change)
        }
    )* };
}

#[cfg(feature = "authorization")]
pub mod authorization;
mod executor;
#[cfg(feature = "arbitrary")]
mod from_bytes;
#[cfg(feature = "http")]
mod http;
mod kit;
mod progress_and_responses;
mod protocol;
mod response;
#[cfg(feature = "robustness")]
pub mod robustness;
mod serve;
mod server;
#[cfg(feature = "proptest")]
pub mod simulation;
#[cfg(feature = "proptest")]
pub mod strategies;
mod time;
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "arbitrary")]
pub use from_bytes::from_bytes;
#[cfg(feature = "http")]
pub use http::{HttpAnswer, HttpRequest, ScriptedHttp, ScriptedHttpClient};
pub use kit::Testkit;
pub use mcpwire_driver::memory::{Duplex, PipeReader, PipeWriter, duplex, pipe};
#[cfg(feature = "proptest")]
pub use mcpwire_driver::protocol::ProtocolVersion;
pub use response::ScriptedResponse;
pub use serve::ServeFuture;
pub use server::ScriptedServer;
pub use time::{Sleep, VirtualTime, VirtualTimer};
pub use wire::{Cancellation, RecordedMessage};

/// Locks a mutex, even if it is poisoned because a handler of a test has panicked.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    texts.into_iter().map(Into::into).collect()
}
