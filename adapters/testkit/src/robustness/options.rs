//! [`RobustnessTest`]: the options of a test. [`RobustnessError`]: why it could not be made.

use std::fmt;
use std::time::Duration;

use mcpwire_driver::protocol::Negotiate;
use mcpwire_driver::{McpServerDef, SpawnError};

/// A test of a server's process. [`RobustnessTest::run`] makes it.
pub struct RobustnessTest<'a> {
    pub(super) def: &'a McpServerDef,
    pub(super) negotiate: Negotiate,
    pub(super) seed: u64,
    pub(super) calls: usize,
    pub(super) time: Duration,
    pub(super) timeout: Duration,
    pub(super) all_tools: bool,
    pub(super) only: Vec<String>,
    pub(super) on_progress: Box<dyn FnMut(&str) + 'a>,
    pub(super) is_stopped: Box<dyn Fn() -> bool + 'a>,
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
