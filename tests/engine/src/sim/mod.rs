//! A client and a server without processes, threads and clocks: a day of traffic in a moment, and the same each time.
//!
//! [`Pair`] drives an engine against a server that is a function of what it is sent, [`web::Web`] one over HTTP. Time is a number
//! that the test moves. [`fleet::Fleet`] plays many servers for a supervisor.

// A test that has gone wrong ends where it does.
#![allow(clippy::missing_panics_doc)]

mod course;
pub mod fleet;
mod pair;
mod peer;
pub mod web;

pub use pair::Pair;
pub use peer::{Peer, Sent, configured, legacy, modern, table};
