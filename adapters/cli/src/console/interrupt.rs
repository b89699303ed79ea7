//! [`Interrupt`]: Ctrl-C and other signals that end the process. [`Foreground`]: waits for futures until an interrupt.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use mcpwire_authorization::{UnsettledLogin, unsettled_logins};
use mcpwire_hub::HubError;
use mcpwire_process::{kill_children, kill_tree};
use mcpwire_tokio::Tokio;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::runtime::runtime;
use super::system;
use crate::failure::{Failure, INTERRUPTED};
use crate::text;

/// Interval at which the wait for a blocking read checks for an interrupt such as Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

/// The interrupts of this process, such as Ctrl-C.
///
/// The first interrupt is recorded, and ends the waits of [`Interrupt::pressed`]. The second interrupt kills the servers, and
/// ends the process.
pub(crate) struct Interrupt {
    was_pressed: watch::Sender<bool>,
    /// Whether interrupts have no effect, because they are for the commands that this process has started.
    is_for_children: AtomicBool,
    /// The process id of the server of a direct connection. The second interrupt kills this process.
    server: Mutex<Option<u32>>,
}

impl Interrupt {
    /// Installs the handler of SIGINT, SIGTERM and SIGHUP, or of Ctrl-C on Windows. Later calls only return it.
    pub(crate) fn install() -> &'static Self {
        static OF_PROCESS: OnceLock<Interrupt> = OnceLock::new();
        OF_PROCESS.get_or_init(|| {
            // The handler waits until this function has ended. If this fails, an interrupt ends the process as usual, and servers
            // notice the end of their standard input.
            let _ = ctrlc::set_handler(|| Self::install().press());
            let _ = system::watch_quit(|| {
                Self::install().press();
                Self::install().press();
            });
            Self {
                was_pressed: watch::Sender::new(false),
                is_for_children: AtomicBool::new(false),
                server: Mutex::new(None),
            }
        })
    }

    /// Leaves the interrupts from now on to the commands that this process starts.
    pub(crate) fn leave_to_children(&self) {
        self.is_for_children.store(true, Ordering::Relaxed);
    }

    /// Sets the process id of the server that the second interrupt kills.
    pub(crate) fn set_server(&self, pid: Option<u32>) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }

    /// Returns whether this process has received an interrupt such as Ctrl-C.
    pub(crate) fn was_pressed(&self) -> bool {
        *self.was_pressed.borrow()
    }

    /// Waits for an interrupt such as Ctrl-C. Returns at once if there was one already.
    pub(crate) async fn pressed(&self) {
        let _ = self.was_pressed.subscribe().wait_for(|was_pressed| *was_pressed).await;
    }

    /// Calls `read` on another thread, because a blocking read cannot be interrupted. Returns `None` after an interrupt. The
    /// thread then stays until this process ends.
    pub(crate) fn read<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, receiver) = mpsc::channel();
        // If no thread can be started, the sender is dropped, and the loop below returns `None`.
        let _ = thread::Builder::new().spawn(move || sender.send(read()));
        loop {
            match receiver.recv_timeout(GLANCE) {
                Ok(value) => return Some(value),
                Err(RecvTimeoutError::Timeout) if !self.was_pressed() => {}
                Err(_) => return None,
            }
        }
    }

    /// Ends the waits of [`Interrupt::pressed`], as an interrupt does.
    pub(crate) fn end_waits(&self) {
        self.was_pressed.send_replace(true);
    }

    fn press(&self) {
        if self.is_for_children.load(Ordering::Relaxed) {
            return;
        }
        if self.was_pressed.send_replace(true) {
            // A server that is just starting would otherwise continue to run.
            kill_children();
            self.server.lock().unwrap_or_else(PoisonError::into_inner).into_iter().for_each(kill_tree);
            warn_of_lost_logins(&unsettled_logins(), "a signal has ended the wait for the answer");
            process::exit(INTERRUPTED.into())
        }
    }
}

/// Warns of each login that may be lost, because this process ends before it has stored the answer to a request. The warning
/// names the command to log in again, and appears even with `--quiet`.
pub(crate) fn warn_of_lost_logins(logins: &[UnsettledLogin], reason: &str) {
    for login in logins {
        let account = Some(login.account.as_str()).filter(|account| !account.is_empty());
        let command = text::login_command("login", login.server.as_deref(), &login.server_url, account, &[]);
        anstream::eprintln!("warning: {login}, and {reason}; run `{command}` if the next call fails");
    }
}

/// The runtime of a command. It runs only while the command waits for a future, on the thread of the command. Clones share the
/// runtime. Dropping the last clone drops the tasks of the runtime.
#[derive(Clone)]
pub(crate) struct Foreground {
    runtime: Arc<OwnedRuntime>,
    pub(crate) interrupt: &'static Interrupt,
}

/// A runtime that does not wait for blocking calls when it is dropped, because the lookup of a host name may take long.
struct OwnedRuntime(Option<Runtime>);

impl Foreground {
    /// Creates a runtime, and installs the handler of interrupts.
    pub(crate) fn start() -> Result<Self, Failure> {
        let interrupt = Interrupt::install();
        let cannot = |error| HubError::unavailable(format!("the runtime cannot be started: {error}"));
        let runtime = runtime().map_err(cannot)?;
        Ok(Self { runtime: Arc::new(OwnedRuntime(Some(runtime))), interrupt })
    }

    /// Returns a handle of the runtime, on which MCP clients and logins run their tasks.
    pub(crate) fn handle(&self) -> Tokio {
        Tokio::new(self.runtime().handle().clone())
    }

    /// Waits for a future, and returns its output. Drops the future after an interrupt such as Ctrl-C, and returns `None`.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.runtime().block_on(async {
            tokio::select! {
                biased;
                () = self.interrupt.pressed() => None,
                done = future => Some(done),
            }
        })
    }

    /// Calls an async function, and returns its output. An interrupt does not end the wait.
    pub(crate) fn finish<T>(&self, function: impl AsyncFnOnce() -> T) -> T {
        self.runtime().block_on(function())
    }

    fn runtime(&self) -> &Runtime {
        // Only `drop` takes the runtime.
        self.runtime.0.as_ref().expect("it is there until the last clone is dropped")
    }
}

impl Drop for OwnedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
