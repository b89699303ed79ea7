//! [`Canceller`]: cancels a wait of the client from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};

use mcpwire_client::lock;

/// A function that wakes the client's thread while that thread waits for the server.
pub(crate) type ThreadWaker = Box<dyn Fn() + Send>;

#[derive(Default)]
struct Shared {
    is_cancelled: AtomicBool,
    /// Whether a handler's future has been woken and must be polled.
    is_woken: AtomicBool,
    /// Wakes the client's thread. `None` until the program creates a canceller or a handler runs. Replaced when the server is
    /// restarted.
    waker: Mutex<Option<ThreadWaker>>,
}

impl Shared {
    fn wake_thread(&self) {
        if let Some(wake) = &*lock(&self.waker) {
            wake();
        }
    }
}

/// The waker of the futures of the program's handlers. It wakes the client's thread, which polls them.
impl Wake for Shared {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        self.wake_thread();
    }
}

/// Cancels the wait of a client from another thread, such as a thread that handles Ctrl-C or a user interface. Returned by
/// [`McpClient::canceller`](crate::McpClient::canceller). Clones cancel the waits of the same client.
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
    /// Creates a canceller that cannot wake the client's thread before [`Canceller::set_waker`] is called.
    pub(crate) fn new() -> Self {
        Canceller(Arc::default())
    }

    /// Cancels the request that the client waits for, and notifies the server.
    ///
    /// The wait fails with [`CallError::Cancelled`](mcpwire_core::CallError::Cancelled). If the client is not waiting, its next
    /// wait fails.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        self.0.wake_thread();
    }

    pub(crate) fn has_waker(&self) -> bool {
        lock(&self.0.waker).is_some()
    }

    pub(crate) fn set_waker(&self, waker: ThreadWaker) {
        *lock(&self.0.waker) = Some(waker);
    }

    /// Returns the waker with which the client polls the futures of the program's handlers.
    pub(crate) fn handler_waker(&self) -> Waker {
        Waker::from(Arc::clone(&self.0))
    }

    /// Returns whether a handler's future was woken since the last call of this function.
    pub(crate) fn take_woken(&self) -> bool {
        self.0.is_woken.swap(false, Ordering::SeqCst)
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
