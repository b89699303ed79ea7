//! [`LocalProcess`]: a server's process on this machine, with one implementation for each kind of operating system.

#[cfg(not(any(unix, windows)))]
mod other;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(not(any(unix, windows)))]
use other as system;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::LocalProcess;
pub use system::{kill_children, kill_tree};
