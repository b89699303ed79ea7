//! [`Canceller`]: ends a wait from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A way to wake the client's thread while it waits.
pub(crate) enum ThreadWaker {
    #[cfg(unix)]
    Pipe(std::io::PipeWriter),
    Call(Box<dyn Fn() + Send>),
    #[cfg(feature = "http")]
    Task(std::task::Waker),
}

struct Shared {
    is_cancelled: AtomicBool,
    /// Replaced when the server is restarted.
    waker: Mutex<ThreadWaker>,
}

/// Cancels the wait of a client from another thread, such as a signal handler or a user interface.
///
/// ```no_run
/// # mod mcpwire { pub use mcpwire_blocking::McpServerDef; pub mod blocking { pub use mcpwire_blocking::McpClient; } }
/// use mcpwire::McpServerDef;
/// use mcpwire::blocking::McpClient;
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
    pub(crate) fn new(waker: ThreadWaker) -> Self {
        Canceller(Arc::new(Shared { is_cancelled: AtomicBool::new(false), waker: Mutex::new(waker) }))
    }

    /// Cancels the request that the client waits for, and notifies the server.
    ///
    /// The wait fails with [`CallError::Cancelled`](mcpwire_core::CallError::Cancelled). If the client is not waiting, its next wait
    /// fails.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Wakes the thread without cancelling its request.
    pub(crate) fn wake(&self) {
        match &*self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            // The error is ignored: a full pipe wakes the thread, too.
            #[cfg(unix)]
            ThreadWaker::Pipe(pipe) => drop(std::io::Write::write(&mut &*pipe, &[1])),
            ThreadWaker::Call(wake) => wake(),
            #[cfg(feature = "http")]
            ThreadWaker::Task(waker) => waker.wake_by_ref(),
        }
    }

    /// Replaces the waker, after the server was restarted.
    pub(crate) fn set_waker(&self, waker: ThreadWaker) {
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
    }

    /// Returns whether `cancel` was called since the last call of this function.
    pub(crate) fn take_cancelled(&self) -> bool {
        self.0.is_cancelled.swap(false, Ordering::SeqCst)
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
