//! [`isolate`]: separates a server from the process group and the terminal of this process.

#[cfg(not(all(unix, feature = "setsid")))]
mod group;
#[cfg(all(unix, feature = "setsid"))]
mod session;

#[cfg(not(all(unix, feature = "setsid")))]
pub(crate) use group::isolate;
#[cfg(all(unix, feature = "setsid"))]
pub(crate) use session::isolate;
