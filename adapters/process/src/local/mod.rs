//! [`LocalProcess`]: a server's process on this machine.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::LocalProcess;
#[cfg(not(unix))]
pub use other::{kill_children, kill_tree};
#[cfg(unix)]
pub(crate) use unix::LocalProcess;
#[cfg(unix)]
pub use unix::{kill_children, kill_tree};
