//! Creates each error of a client. All adapters create their errors here.

use std::io;

use mcpwire_core::{CallError, ConnectError, SendError};

use crate::{Error, HttpSetupError, ProcessReport, SpawnError};

/// Returns the error of a server that could not be started.
#[cold]
pub fn spawn(server: &str, error: SpawnError) -> Error {
    Error::Spawn { server: server.into(), error }
}

/// Returns the error of a connection over HTTP that could not be set up.
#[cold]
pub fn http(server: &str, error: HttpSetupError) -> Error {
    Error::Http { server: server.into(), error }
}

/// Returns the error of a connection that could not be opened.
#[cold]
pub fn connect(server: &str, error: ConnectError, process: Option<Box<ProcessReport>>) -> Error {
    Error::Connect { server: server.into(), error, process }
}

/// Returns the error of a request that was not sent.
#[cold]
pub fn send(server: &str, error: SendError, process: Option<Box<ProcessReport>>) -> Error {
    Error::Send { server: server.into(), error, process }
}

/// Returns the error of a request that was sent and has no result.
#[cold]
pub fn call(server: &str, error: CallError, process: Option<Box<ProcessReport>>) -> Error {
    Error::Call { server: server.into(), error, process }
}

/// Returns the error of a failed input or output operation of this side.
#[cold]
pub fn io(server: &str, error: io::Error) -> Error {
    Error::Io { server: server.into(), error }
}
