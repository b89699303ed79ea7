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
// | `run` | the order of all that |

mod inputs;
mod judge;
mod messages;
mod misuse;
mod peer;
mod process;
mod report;
mod run;
mod shrink;

use std::fmt;
use std::time::Duration;

use mcpwire_driver::protocol::Negotiate;
use mcpwire_driver::{McpServerDef, SpawnError};

pub use report::{End, Finding, FindingKind, Repeat, Report, Severity, TestedTool};

/// A test of a server's process. [`RobustnessTest::run`] makes it.
pub struct RobustnessTest<'a> {
    def: &'a McpServerDef,
    negotiate: Negotiate,
    seed: u64,
    calls: usize,
    time: Duration,
    timeout: Duration,
    all_tools: bool,
    only: Vec<String>,
    on_progress: Box<dyn FnMut(&str) + 'a>,
    is_stopped: Box<dyn Fn() -> bool + 'a>,
}

/// Why a test could not be made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RobustnessError {
    /// The server could not be started.
    Spawn(SpawnError),
    /// The connection could not be opened, or the tools could not be listed. Contains the reason, and the last lines that the server
    /// wrote to standard error.
    NotOpened(String, Vec<String>),
    /// The server has no tool of this name.
    NoTool(String),
    /// The program has stopped the test before the connection was open.
    Stopped,
}

impl<'a> RobustnessTest<'a> {
    /// Creates a test of the server that this definition starts: with the seed 0, 30 calls of each tool, and the maximum time of one
    /// minute.
    pub fn new(def: &'a McpServerDef) -> Self {
        RobustnessTest {
            def,
            negotiate: Negotiate::Auto,
            seed: 0,
            calls: 30,
            time: Duration::from_secs(60),
            timeout: Duration::from_secs(10),
            all_tools: false,
            only: Vec::new(),
            on_progress: Box::new(|_| {}),
            is_stopped: Box::new(|| false),
        }
    }

    /// Sets the protocol revisions to offer.
    pub fn negotiate(mut self, negotiate: Negotiate) -> Self {
        self.negotiate = negotiate;
        self
    }

    /// Sets the seed of all generated arguments.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the maximum number of calls of each tool.
    pub fn calls(mut self, calls: usize) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the time after which the test sends nothing new. To make a finding smaller, it may take a quarter longer.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets the maximum time to wait for an answer; 10 seconds by default. A request without an answer is a finding. The handshake may
    /// take at least 30 seconds, because interpreters take some time to start.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Also calls tools that do not declare `readOnlyHint: true`. They may change or delete something.
    pub fn all_tools(mut self) -> Self {
        self.all_tools = true;
        self
    }

    /// Calls only the tools with these names, even if they do not declare `readOnlyHint: true`.
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.only = names.into_iter().map(Into::into).collect();
        self
    }

    /// Calls `report` with a short text for each step of the test.
    pub fn on_progress(mut self, report: impl FnMut(&str) + 'a) -> Self {
        self.on_progress = Box::new(report);
        self
    }

    /// Ends the test early when `is_stopped` returns `true`. It is called often.
    pub fn stop_when(mut self, is_stopped: impl Fn() -> bool + 'a) -> Self {
        self.is_stopped = Box::new(is_stopped);
        self
    }

    /// Starts the server and tests it. Blocks the thread until the end of the test.
    ///
    /// # Errors
    /// If the server cannot be started, if no connection can be opened, or if it has no tool of a given name.
    pub fn run(self) -> Result<Report, RobustnessError> {
        run::run(self)
    }
}

impl fmt::Debug for RobustnessTest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RobustnessTest").field("seed", &self.seed).field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl fmt::Display for RobustnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RobustnessError::Spawn(error) => error.fmt(f),
            RobustnessError::NotOpened(reason, _) => f.write_str(reason),
            RobustnessError::NoTool(name) => write!(f, "the server has no tool `{name}`"),
            RobustnessError::Stopped => f.write_str("the test was stopped"),
        }
    }
}

impl std::error::Error for RobustnessError {}
