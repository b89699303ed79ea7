//! [`Interrupt`]: handles Ctrl-C and other signals that end the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::INTERRUPTED;
use crate::lost_logins::end_at_once;

/// The handler of interrupts of this process, such as Ctrl-C. All clones are the same handler.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<Shared>);

struct Shared {
    was_pressed: AtomicBool,
    action: Mutex<Box<Action>>,
}

/// The function that an interrupt such as Ctrl-C calls: with `false` for the first interrupt, and with `true` for later
/// interrupts.
type Action = dyn FnMut(bool) + Send;

impl Interrupt {
    /// Installs the handler of SIGINT, SIGTERM and SIGHUP, or of Ctrl-C on Windows. Later calls return the same handler.
    ///
    /// Until [`Interrupt::on_press`] is called, the first interrupt is only recorded, and the second interrupt ends the
    /// process.
    pub(crate) fn install() -> Self {
        static OF_PROCESS: OnceLock<Interrupt> = OnceLock::new();
        let install = || {
            let interrupt = Interrupt(Arc::new(Shared {
                was_pressed: AtomicBool::new(false),
                action: Mutex::new(default_action()),
            }));
            let handler = interrupt.clone();
            // If this fails, an interrupt ends the process as usual, and servers notice the end of their standard input.
            let _ = ctrlc::set_handler(move || handler.press());
            #[cfg(unix)]
            let _ = quit::install(interrupt.clone());
            interrupt
        };
        OF_PROCESS.get_or_init(install).clone()
    }

    /// Sets `action`, which is called on each interrupt, such as Ctrl-C. If there was an interrupt already, also calls `action` at once.
    ///
    /// The argument of `action` is `false` for the first interrupt, and `true` for later interrupts.
    pub(crate) fn on_press(&self, mut action: impl FnMut(bool) + Send + 'static) {
        let mut current = self.action();
        if self.was_pressed() {
            action(false);
        }
        *current = Box::new(action);
    }

    /// Cancels the request or the wait that is in progress, as the first Ctrl-C does. Does not count as an interrupt.
    pub(crate) fn cancel_wait(&self) {
        (self.action())(false);
    }

    /// Restores the initial action: the first interrupt is only recorded, and the second interrupt ends the process.
    pub(crate) fn forget(&self) {
        *self.action() = default_action();
    }

    /// Returns whether this process has received an interrupt such as Ctrl-C.
    pub(crate) fn was_pressed(&self) -> bool {
        self.0.was_pressed.load(Ordering::SeqCst)
    }

    fn press(&self) {
        let again = self.0.was_pressed.swap(true, Ordering::SeqCst);
        (self.action())(again);
    }

    fn action(&self) -> MutexGuard<'_, Box<Action>> {
        self.0.action.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
mod quit {
    use std::{io, thread};

    use tokio::signal::unix::{SignalKind, signal};

    use super::Interrupt;
    use crate::runtime::runtime;

    /// Makes SIGQUIT (Ctrl-\\) count as two interrupts. By default, SIGQUIT would end this process, but not servers that ignore
    /// the end of their standard input.
    pub(super) fn install(interrupt: Interrupt) -> io::Result<()> {
        let runtime = runtime()?;
        let context = runtime.enter();
        let mut signals = signal(SignalKind::quit())?;
        drop(context);
        let wait = move || {
            while runtime.block_on(signals.recv()).is_some() {
                interrupt.press();
                interrupt.press();
            }
        };
        thread::Builder::new().name("mcpwire-quit".into()).stack_size(256 * 1024).spawn(wait)?;
        Ok(())
    }
}

fn default_action() -> Box<Action> {
    Box::new(|again| {
        if again {
            // A server that is just starting would otherwise continue to run.
            mcpwire_process::kill_children();
            end_at_once(INTERRUPTED);
        }
    })
}
