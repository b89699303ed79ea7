//! Ending a wait from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::transport::ThreadEvent;

/// What wakes the thread that waits.
pub(crate) enum Waker {
    #[cfg(unix)]
    Pipe(std::io::PipeWriter),
    Channel(std::sync::mpsc::Sender<ThreadEvent>),
    #[cfg(feature = "http")]
    Task(std::task::Waker),
}

struct Shared {
    cancelled: AtomicBool,
    /// Replaced when the server is started once more.
    waker: Mutex<Waker>,
}

/// Ends the call that a client waits for, from another thread: a signal handler's, a user interface's.
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

    /// Ends the call that is waited for, with [`CallError::Cancelled`](mcpwire_core::CallError::Cancelled); the server is
    /// told. If none is waited for, the next one ends so.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        match &*self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            // A pipe that is full wakes as well as one that has one byte more.
            #[cfg(unix)]
            Waker::Pipe(pipe) => drop(std::io::Write::write(&mut &*pipe, &[1])),
            Waker::Channel(channel) => drop(channel.send(ThreadEvent::Wake)),
            #[cfg(feature = "http")]
            Waker::Task(waker) => waker.wake_by_ref(),
        }
    }

    /// From now on, wakes this.
    pub(crate) fn rewire(&self, waker: Waker) {
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
    }

    /// Whether it was called since the last time that this was asked.
    pub(crate) fn take(&self) -> bool {
        self.0.cancelled.swap(false, Ordering::SeqCst)
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").finish_non_exhaustive()
    }
}
