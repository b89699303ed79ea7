//! [`Canceller`]: ends a wait from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Wakes the thread that waits.
pub(crate) enum Waker {
    #[cfg(unix)]
    Pipe(std::io::PipeWriter),
    Call(Box<dyn Fn() + Send>),
    #[cfg(feature = "http")]
    Task(std::task::Waker),
}

struct Shared {
    cancelled: AtomicBool,
    /// Replaced when the server is restarted.
    waker: Mutex<Waker>,
}

/// Cancels what a client waits for, from another thread, such as that of a signal handler or a user interface.
///
/// ```no_run
/// use mcpwire_blocking::{McpClient, McpServerDef};
///
/// let mut client = McpClient::connect(&McpServerDef::new("my-server"))?;
/// let canceller = client.canceller()?;
/// std::thread::spawn(move || {
///     std::thread::sleep(std::time::Duration::from_secs(10));
///     canceller.cancel();
/// });
/// client.initialize()?;
/// # Ok::<(), mcpwire_blocking::Error>(())
/// ```
#[derive(Clone)]
pub struct Canceller(Arc<Shared>);

impl Canceller {
    pub(crate) fn new(waker: Waker) -> Self {
        Canceller(Arc::new(Shared { cancelled: AtomicBool::new(false), waker: Mutex::new(waker) }))
    }

    /// Cancels the request that the client waits for, and notifies the server.
    ///
    /// The wait fails with [`CallError::Cancelled`](mcpwire_core::CallError::Cancelled). If the client waits for nothing, the
    /// next wait fails.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Ends the wait, without cancelling the call.
    pub(crate) fn wake(&self) {
        match &*self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            // A full pipe wakes the thread too, so a failed write does not matter.
            #[cfg(unix)]
            Waker::Pipe(pipe) => drop(std::io::Write::write(&mut &*pipe, &[1])),
            Waker::Call(wake) => wake(),
            #[cfg(feature = "http")]
            Waker::Task(waker) => waker.wake_by_ref(),
        }
    }

    /// Replaces what is woken.
    pub(crate) fn rewire(&self, waker: Waker) {
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
    }

    /// Returns whether `cancel` was called since the last call of this function.
    pub(crate) fn take(&self) -> bool {
        self.0.cancelled.swap(false, Ordering::SeqCst)
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
