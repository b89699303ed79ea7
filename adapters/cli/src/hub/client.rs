//! [`Client`]: a command's connection to the running hub.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use mcpwire_blocking::protocol::Json;
use mcpwire_hub::HubError;
use mcpwire_hub::layout::Layout;

use super::protocol::{OnProgress, Request, Response, json};
use super::socket::{self, failed};

/// A connection of a command to the running hub (`mcpwire hub run`).
pub(super) struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects to the running hub (`mcpwire hub run`). Returns `None` if no hub is running.
    pub(super) fn connect(layout: &Layout) -> Result<Option<Client>, HubError> {
        Ok(socket::connect(layout)?.map(|stream| Client { stream: BufReader::new(stream) }))
    }

    /// Sends a request to the running hub and waits for the response. Calls `on_progress` for each progress report of a tool
    /// call.
    ///
    /// If this process ends before the response arrives, the hub cancels the tool call.
    pub(super) fn ask(&mut self, request: &Request, on_progress: OnProgress<'_>) -> Result<Json, HubError> {
        self.send(request)?;
        loop {
            match self.next()? {
                Response::Progress(progress) => on_progress(&progress),
                Response::Done(json) => return Ok(json),
                Response::Error(error) => return Err(error.into()),
            }
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), HubError> {
        let line = format!("{}\n", json(request)?.get());
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        sent.map_err(|error| lost(&error))
    }

    fn next(&mut self) -> Result<Response, HubError> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line).map_err(|error| lost(&error))?;
        if read == 0 {
            return Err(HubError::unavailable("the running hub has ended"));
        }
        serde_json::from_str(&line)
            .map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))
    }
}

fn lost(error: &io::Error) -> HubError {
    failed("the connection to the running hub broke", error)
}
