//! What a client does about servers, good and bad: the suite that every adapter has to pass.
//!
//! A case is a function over [`Adapter`], in a file of `tests/clients/` that is named after the behaviour. It takes a [`Server`]
//! with one bad habit from [`server!`], opens a client on it, and says what must happen:
//!
//! ```text
//! fn an_echo_comes_back<A: Adapter>() {
//!     let server = server!("well-behaved");
//!     let mut client = server.open::<A>();
//!     assert_eq!(client.text("echo", json!({"message": "hello"})), "hello");
//! }
//!
//! on_every_adapter!(an_echo_comes_back);
//! ```
//!
//! [`on_every_adapter!`] makes a test of it for each adapter, `blocking::an_echo_comes_back` for one, under a watchdog.
//! What does not depend on the runtime has tests with [`on_both_clients!`], for the blocking client and the async one on tokio.
//! When the server goes out of scope, it looks whether any of its processes is left.

mod adapter;
pub mod asynchronous;
pub mod authorization;
mod blocking;
mod observed;
mod process_table;
mod server;
pub mod web;

pub use adapter::{Adapter, Answering, Call, Failure, Heard, OverHttp, Statuses};
pub use blocking::Blocking;
pub use mcpwire_engine_tests::{Allocated, Counting, WATCHDOG, allocated, given_back, timed, watch, watched};
pub use observed::{Lines, OnDrop, done_of_total};
pub use process_table::{has_ended, peak_memory, process_exists};
pub use server::Server;

/// Makes a test of each case for each adapter.
#[macro_export]
macro_rules! on_every_adapter {
    ($($case:ident),+ $(,)?) => {
        mod blocking {
            $(
                #[test]
                fn $case() {
                    $crate::watched(super::$case::<$crate::Blocking>);
                }
            )+
        }
        $crate::on_every_adapter!(@async tokio_current, TokioCurrent, $($case),+);
        $crate::on_every_adapter!(@async tokio_multi, TokioMulti, $($case),+);
        $crate::on_every_adapter!(@async smol, Smol, $($case),+);
        $crate::on_every_adapter!(@async async_std, AsyncStd, $($case),+);
    };
    (@async $name:ident, $Host:ident, $($case:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $case() {
                    $crate::watched(super::$case::<$crate::asynchronous::Async<$crate::asynchronous::$Host>>);
                }
            )+
        }
    };
}

/// Makes a test of each case for both clients: the blocking one, and the async one on tokio. The other runtimes cannot change its outcome.
#[macro_export]
macro_rules! on_both_clients {
    ($($case:ident),+ $(,)?) => {
        mod blocking_client {
            $(
                #[test]
                fn $case() {
                    $crate::watched(super::$case::<$crate::Blocking>);
                }
            )+
        }
        $crate::on_every_adapter!(@async async_client, TokioMulti, $($case),+);
    };
}

/// A server with the habit that the words describe: `server!("slow 100 --modern")`.
#[macro_export]
macro_rules! server {
    ($words:expr) => {
        $crate::Server::new(env!("CARGO_BIN_EXE_bad-habits"), $words)
    };
}

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
