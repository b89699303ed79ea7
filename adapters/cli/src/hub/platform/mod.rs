//! How commands reach the running hub, and how a hub gets into the background, which differs between systems. Each file here has
//! the same functions and types for its systems.

use std::io;

use mcpwire_hub::HubError;

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(not(unix))]
use windows as system;

pub(crate) use self::system::{ReadHalf, Socket, Stream, Visitor, connect, detach, leave_session};

pub(super) fn runs_already() -> HubError {
    HubError::conflict("hub", "a hub is running here already")
}

pub(super) fn failed(what: &str, error: &io::Error) -> HubError {
    HubError::unavailable(format!("{what}: {error}"))
}
