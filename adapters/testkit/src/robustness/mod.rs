//! Tests the process of an MCP server with generated calls and misuse of the protocol (feature `robustness`).
//!
//! ```no_run
//! # mod mcpwire { pub use mcpwire_driver::McpServerDef; pub mod testkit { pub use mcpwire_testkit::robustness; } }
//! use mcpwire::McpServerDef;
//! use mcpwire::testkit::robustness::{RobustnessError, RobustnessTest};
//!
//! # fn main() -> Result<(), RobustnessError> {
//! let server = McpServerDef::new("python3").arg("server.py");
//! let report = RobustnessTest::new(&server).seed(7).run()?;
//! for finding in &report.findings {
//!     println!("{}: {}", finding.kind, finding.what);
//! }
//! assert!(!report.has_failures());
//! # Ok(())
//! # }
//! ```
//!
//! A test opens a connection with the engine of mcpwire, and then writes lines of its own, because a client refuses to send most of
//! them. It first makes the checks of the protocol. Then it calls the tools in turn, with four kinds of arguments:
//!
//! | arguments | examples |
//! |---|---|
//! | valid | what [`strategies::arguments`](crate::strategies::arguments) generates from the `inputSchema` |
//! | nearly valid | a required member is missing; a member has the wrong type, is out of range, is not in the `enum`, or is unknown |
//! | large | texts of 100,000 characters, lists of 2,000 elements, objects with 60 levels, the limits of numbers |
//! | odd | empty texts, NUL, line breaks, text from right to left, emoji, lone combining marks, `../..`, `%s`, quotes |
//!
//! After each of them, the server must answer a `ping` (`server/discover` from revision 2026-07-28 on). A server that has ended or
//! hangs is started again, and the test goes on. Only tools that declare `readOnlyHint: true` are called, unless the program says
//! otherwise.
//!
//! A [`Finding`] is a [`Severity::Failure`] if the server ends or hangs, or if it breaks a MUST of its revision. What the
//! specification only recommends is a [`Severity::Remark`]. For each kind of finding of a tool, the test searches for the smallest
//! input that shows it, see [`Repeat`].

// | file | content |
// |---|---|
// | `report` | `Report`, `Finding` |
// | `process`, `peer`, `messages` | a server's process; its connection; what its lines mean |
// | `inputs`, `misuse` | what to send: arguments of tools, and checks of the protocol |
// | `judge` | what is a finding |
// | `shrink` | makes inputs smaller |
// | `options` | `RobustnessTest` |
// | `run` | the order of all that |

mod inputs;
mod judge;
mod messages;
mod misuse;
mod options;
mod peer;
mod process;
mod report;
mod run;
mod shrink;

pub use options::{RobustnessError, RobustnessTest};
pub use report::{End, Finding, FindingKind, Repeat, Report, Severity, TestedTool};
