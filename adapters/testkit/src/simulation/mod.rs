//! Simulations: a program's client code, handlers or server against scripts, in virtual time (feature `proptest`).
//!
//! A [`Simulation`] generates scripts, runs the code under test against each, and shrinks the first script that makes it fail. The
//! failure prints the script as a list of steps:
//!
//! ```
//! # mod mcpwire { pub mod testkit { pub use mcpwire_testkit::VirtualTime; pub mod simulation { pub use
//! # mcpwire_testkit::simulation::{Simulation, script}; } } pub mod runtime { pub use mcpwire_driver::McpClient; } }
//! use mcpwire::testkit::simulation::{Simulation, script};
//!
//! // The code under test: it forgets that a tool can fail.
//! async fn length(client: &mcpwire::runtime::McpClient<mcpwire::testkit::VirtualTime>) -> Result<(), String> {
//!     match client.call_tool("measure", ()).await {
//!         Ok(result) if result.is_error => Err("the text of a failure was taken for an answer".into()),
//!         _ => Ok(()),
//!     }
//! }
//!
//! let failure = Simulation::new().find_client_fault(script(["measure"]), async |client| length(&client).await).unwrap_err();
//! assert_eq!(failure.script.steps.len(), 1);
//! assert!(failure.to_string().contains("answers"));
//! ```
//!
//! | code under test | method | script |
//! |---|---|---|
//! | code that uses a client | [`Simulation::check_client`] | [`Script`]: what a server does |
//! | handlers of requests of the server | [`Simulation::check_handler`] | [`Asks`]: what a server asks |
//! | a server | [`Simulation::check_server`] | [`ClientScript`]: what a client sends |
//!
//! Messages arrive as they do in practice: one by one, several in one read, byte by byte, and in chunks that end in the middle of a
//! message. Requests overlap: a [`ClientScript`] may begin requests while others are in flight, and [`Asks`] may be sent all at once.
//! The printed script says so where the failure depends on it:
//!
//! ```text
//! the request ping {} with the id "request-2" has 0 responses
//! with a client of revision 2025-11-25
//!   0. requests initialize {"capabilities":{},…} with the id "request-0"
//!      sends the notification notifications/initialized {} after the response
//!   1. requests ping {} with the id "request-1"
//!   2. in the same write: requests ping {} with the id "request-2"
//! ```
//!
//! `check_` methods panic with the failure, for tests. `find_` methods return it.
//!
//! Scripts are bounded in length, and a run in virtual time ([`Simulation::time_limit`]), so that a simulation always ends unless
//! the code under test blocks its thread. The same seed generates the same scripts.

/// Maximum number of steps of a script. 12: enough for several calls with reports before their answers.
pub(crate) const MAX_STEPS: usize = 12;

mod client_script;
mod run;
mod script;
mod server_run;
mod shrink;
#[cfg(test)]
mod tests;
mod transcript;

pub use client_script::{ClientScript, ClientStep, client_script};
#[cfg(feature = "arbitrary")]
pub(crate) use client_script::{client_step, writes};
pub use run::Simulation;
#[cfg(feature = "arbitrary")]
pub(crate) use script::ask;
pub use script::{Ask, Asks, Script, Step, asks, script, script_of, step};
pub use server_run::serve_lines;
pub use shrink::Failure;
pub use transcript::{Exchange, Transcript};
