//! Ctrl-C: the first cancels what is waited for, the second does not wait for anything.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_blocking::Canceller;

use crate::failure::INTERRUPTED;

/// What an interrupt of this process does; clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Interrupt {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    pressed: AtomicBool,
    server: Mutex<Option<Server>>,
}

/// The server that must not outlive us.
struct Server {
    canceller: Canceller,
    pid: Option<u32>,
}

impl Interrupt {
    /// Handles SIGINT, SIGTERM and SIGHUP (Ctrl-C on Windows) from now on.
    pub(crate) fn install() -> Self {
        let interrupt = Self::default();
        let handler = interrupt.clone();
        // Without a handler an interrupt ends this process, and the server sees the end of its input.
        let _ = ctrlc::set_handler(move || handler.press());
        interrupt
    }

    /// From now on an interrupt cancels what this server is asked, and a second one kills it.
    pub(crate) fn watch(&self, canceller: Canceller, pid: Option<u32>) {
        let mut server = self.server();
        if self.was_pressed() {
            canceller.cancel();
        }
        *server = Some(Server { canceller, pid });
    }

    /// The server has ended.
    pub(crate) fn forget(&self) {
        *self.server() = None;
    }

    pub(crate) fn was_pressed(&self) -> bool {
        self.shared.pressed.load(Ordering::SeqCst)
    }

    /// Cancels what is waited for, as if an interrupt had, which it was not.
    pub(crate) fn cancel(&self) {
        if let Some(server) = &*self.server() {
            server.canceller.cancel();
        }
    }

    fn press(&self) {
        let again = self.shared.pressed.swap(true, Ordering::SeqCst);
        match &*self.server() {
            Some(server) if !again => server.canceller.cancel(),
            // It is being started, and will be watched in a moment.
            None if !again => {}
            server => {
                server.iter().for_each(Server::kill);
                process::exit(INTERRUPTED.into());
            }
        }
    }

    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.shared.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Kills the server with everything that it has started: it leads a process group.
    #[cfg(unix)]
    fn kill(&self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let group = self.pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        if let Some(group) = group {
            // It may have ended by itself by now.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill(&self) {
        let _ = self.pid;
    }
}
