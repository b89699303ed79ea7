//! [`Interrupt`]: what Ctrl-C does.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::failure::INTERRUPTED;

/// What an interrupt of this process does. All clones are the same.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<Shared>);

struct Shared {
    was_pressed: AtomicBool,
    action: Mutex<Box<Action>>,
}

/// What an interrupt does. Called with `true` for the second interrupt and later ones.
type Action = dyn FnMut(bool) + Send;

impl Interrupt {
    /// Handles SIGINT, SIGTERM and SIGHUP (Ctrl-C on Windows) from now on. Until [`Interrupt::on_press`] is called, the first
    /// interrupt is only remembered, and the second ends the process.
    pub(crate) fn install() -> Self {
        static OF_PROCESS: OnceLock<Interrupt> = OnceLock::new();
        let install = || {
            let interrupt = Interrupt(Arc::new(Shared {
                was_pressed: AtomicBool::new(false),
                action: Mutex::new(default_action()),
            }));
            let handler = interrupt.clone();
            // Without a handler, an interrupt ends this process, and the servers see the end of their input.
            let _ = ctrlc::set_handler(move || handler.press());
            #[cfg(unix)]
            let _ = quit::install(interrupt.clone());
            interrupt
        };
        OF_PROCESS.get_or_init(install).clone()
    }

    /// Sets what an interrupt does from now on. `action` is called with `true` for the second interrupt and later ones, and at once
    /// if there was an interrupt before.
    pub(crate) fn on_press(&self, mut action: impl FnMut(bool) + Send + 'static) {
        let mut current = self.action();
        if self.was_pressed() {
            action(false);
        }
        *current = Box::new(action);
    }

    /// Does what the first interrupt would do, without one.
    pub(crate) fn cancel_wait(&self) {
        (self.action())(false);
    }

    /// Restores the initial action.
    pub(crate) fn forget(&self) {
        *self.action() = default_action();
    }

    /// Returns whether there was an interrupt.
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

    /// Makes SIGQUIT (Ctrl-\\) count as two interrupts. By default, it would end this process and leave servers that ignore the end of
    /// their input.
    pub(super) fn install(interrupt: Interrupt) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
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
            // A server may be starting.
            mcpwire_process::kill_children();
            process::exit(INTERRUPTED.into());
        }
    })
}
