//! The errors of a session. The table shows who causes each kind of error, and when.
//!
//! | type | caused by |
//! |---|---|
//! | [`SendError`] | the caller, before anything is sent |
//! | [`ConnectError`] | the server, the network or a timeout, while the connection is being opened |
//! | [`CallError`] | the server, the network or a timeout, after the request was sent |
//! | [`InputError`] | the client, which did not answer a request of the server |
//! | [`TaskError`] | the server, while a call runs as a task |
//! | [`PeerError`](crate::PeerError) | the server, which sent an invalid message |

mod call;
mod connect;
mod retry;
mod send;

pub(crate) use crate::rpc::RequestFault;
pub use call::{CallError, Deadline, InputError, TaskError};
pub use connect::{CloseReason, ConnectError};
#[cfg(feature = "http")]
pub(crate) use retry::is_reading;
pub use send::SendError;
