//! Property tests of client code, request handlers or servers: they run against generated scripts in virtual time (feature
//! `proptest`).
//!
//! A [`Simulation`] generates scripts, runs the code under test against each, and shrinks the first script that makes the code
//! fail. The failure prints the script as a list of steps:
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
//! | code that uses a client | [`Simulation::check_client`] | [`Script`]: the steps of a server |
//! | handlers of the requests of a server | [`Simulation::check_handler`] | [`Asks`]: the requests of a server |
//! | a server | [`Simulation::check_server`] | [`ClientScript`]: the messages of a client |
//!
//! Messages arrive as they do in practice: one by one, several in one read, byte by byte, and in chunks that end in the middle of
//! a message. Requests overlap: a [`ClientScript`] may begin requests while others are in flight, and [`Asks`] may be sent all at
//! once. If the failure depends on this, the printed script shows it:
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
//! In tests, use the `check_` methods, which panic with the failure. The `find_` methods return the failure.
//!
//! The length of a script and the virtual time of a run ([`Simulation::time_limit`]) are limited. A simulation therefore ends,
//! unless the code under test blocks its thread. The same seed generates the same scripts.

/// Maximum number of steps of a generated script. 12 steps are enough for several calls with progress reports before their
/// answers.
pub(crate) const MAX_STEPS: usize = 12;

mod client_script;
mod run;
mod script;
mod server_run;
#[cfg(test)]
mod tests;
mod transcript;

pub use client_script::{ClientScript, ClientStep, client_script};
#[cfg(feature = "arbitrary")]
pub(crate) use client_script::{client_step, writes};
pub use run::{Failure, Simulation};
#[cfg(feature = "arbitrary")]
pub(crate) use script::ask;
pub use script::{Ask, Asks, Script, Step, asks, script, script_of, step};
pub use server_run::serve_lines;
pub use transcript::{Exchange, Transcript};
