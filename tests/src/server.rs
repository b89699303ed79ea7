//! A server of the suite: how it is started, and whether anything of it is left.

use std::future::ready;
use std::process;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcpwire_blocking::protocol::{Config, Notification, ServerRequest};
use mcpwire_blocking::{ConnectOptions, McpServerDef};
use mcpwire_client::GracePeriods;

use crate::{Adapter, Failure, Heard, WATCHDOG, process_table};

/// One server with one bad habit, and the clients on it.
///
/// It must outlive its clients. When it goes, no process of it may be left.
pub struct Server {
    /// How it is started.
    pub def: McpServerDef,
    /// What its clients are configured with.
    pub config: Config,
    /// What its clients have heard of it, beside answers.
    pub heard: Heard,
    /// How long it may go on after each step of its shutdown.
    pub grace_periods: GracePeriods,
    processes: Processes,
}

impl Server {
    /// The program with the words as its arguments, and a mark by which its processes are found.
    pub fn new(program: &str, words: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark = format!("--mark={}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut config = Config::new("mcpwire-tests", "1.0");
        // A busy machine takes longer than the client would wait.
        (config.request_timeout, config.connect_timeout) = (WATCHDOG, WATCHDOG);
        Self {
            def: McpServerDef::new(program).args(words.split_whitespace()).arg(&mark),
            config,
            heard: Heard::default(),
            grace_periods: GracePeriods::default(),
            processes: Processes { mark },
        }
    }

    /// Changes what its clients are configured with.
    #[must_use]
    pub fn configured(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Changes how it is started.
    #[must_use]
    pub fn defined(mut self, change: impl FnOnce(McpServerDef) -> McpServerDef) -> Self {
        self.def = change(self.def);
        self
    }

    /// Makes both grace periods longer than the watchdog, so that a test hangs if its end waits for one of them.
    #[must_use]
    pub fn patient(mut self) -> Self {
        const LONG: Duration = WATCHDOG.saturating_mul(5);
        self.grace_periods = GracePeriods { after_close: LONG, after_terminate: LONG };
        self
    }

    /// The options of its clients, which listen to it.
    pub fn options(&self) -> ConnectOptions {
        let Heard { stderr, logs, .. } = self.heard.clone();
        let answering = self.heard.clone();
        ConnectOptions::new(self.config.clone())
            .grace_periods(self.grace_periods)
            .answer(self.config.answers().to_vec(), move |request: ServerRequest, _| ready(answering.reply(&request)))
            .stderr(move |line| stderr.push(line))
            .on_notification(move |notification| {
                if let Notification::Log(message) = notification {
                    logs.lock().unwrap_or_else(PoisonError::into_inner).push(message.clone());
                }
            })
    }

    /// A client that is ready.
    ///
    /// # Panics
    ///
    /// When there is none to be had.
    pub fn open<A: Adapter>(&self) -> A {
        self.try_open().unwrap_or_else(|failure| panic!("the client is not ready: {failure}"))
    }

    /// A client that is ready, or why there is none.
    pub fn try_open<A: Adapter>(&self) -> Result<A, Failure> {
        let mut client = A::start(self)?;
        client.initialize()?;
        Ok(client)
    }

    /// Why there is no client.
    ///
    /// # Panics
    ///
    /// When there is one.
    pub fn fail_to_open<A: Adapter>(&self) -> Failure {
        match self.try_open::<A>() {
            Ok(_) => panic!("the client is ready, which it should not be"),
            Err(failure) => failure,
        }
    }

    /// Kills its process with this id, and no other.
    ///
    /// # Panics
    ///
    /// When it is no more.
    pub fn kill(&self, pid: u32) {
        process_table::kill(pid);
    }

    /// The same from another thread, once it has said the word on standard error.
    pub fn kill_once_it_says(&self, word: &'static str, pid: u32) -> JoinHandle<()> {
        let stderr = self.heard.stderr.clone();
        thread::spawn(move || {
            stderr.wait_for(word);
            process_table::kill(pid);
        })
    }

    /// The ids of its processes.
    pub fn processes(&self) -> Vec<u32> {
        process_table::marked(&self.processes.mark)
    }

    /// Fails unless all its processes have ended and are collected.
    ///
    /// # Panics
    ///
    /// When one is left.
    pub fn assert_gone(&self) {
        self.processes.assert_gone();
    }
}

/// All that have the mark on their command line.
struct Processes {
    mark: String,
}

impl Processes {
    fn assert_gone(&self) {
        let left = process_table::left_over(&self.mark);
        assert!(left.is_empty(), "processes are left: {left:?}");
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.assert_gone();
        }
    }
}
