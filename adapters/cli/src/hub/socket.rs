//! The connection of a command to the running hub.

use std::io;

use mcpwire_hub::HubError;
use mcpwire_hub::layout::Layout;
use mcpwire_tokio::protocol::{Json, RpcError};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::notices::OnNotice;
use super::platform::{Stream, connect, failed};
use super::protocol::{Answer, Answerer, Asked, Request, Response, write_line};
use crate::console::Console;
use crate::text;

/// Returns whether a hub (`mcpwire hub run`) is running for the directories in `layout`.
pub(crate) fn is_hub_running(layout: &Layout) -> bool {
    matches!(connect(layout), Ok(Some(_)))
}

/// A connection of a command to the running hub (`mcpwire hub run`).
pub(super) struct Client {
    stream: BufReader<Stream>,
    layout: Layout,
    /// Answers requests of servers for the user. `None` for commands that call no tool.
    answerer: Option<Answerer>,
    console: Option<Console>,
}

impl Client {
    /// Connects to the running hub (`mcpwire hub run`). Returns `None` if no hub is running. Must be called within a tokio
    /// runtime.
    pub(super) fn connect(layout: &Layout) -> Result<Option<Client>, HubError> {
        let Some(stream) = connect(layout)? else { return Ok(None) };
        let stream = stream.set_nonblocking(true).and_then(|()| Stream::from_std(stream));
        let stream = stream.map_err(|error| failed("the running hub cannot be reached", &error))?;
        Ok(Some(Client { stream: BufReader::new(stream), layout: layout.clone(), answerer: None, console: None }))
    }

    /// Lets `answerer` answer requests of servers during calls, and `console` show texts of the hub.
    pub(super) fn listen(&mut self, answerer: Option<Answerer>, console: &Console) {
        (self.answerer, self.console) = (answerer, Some(console.clone()));
    }

    /// Waits until the hub closes the connection.
    pub(super) async fn closed(&mut self) {
        let mut line = String::new();
        while self.stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
            line.clear();
        }
    }

    /// Answers a request of a server over another connection, because the call is still in flight on this one.
    async fn answer(&self, asked: &Asked) -> Result<(), HubError> {
        let answer = match &self.answerer {
            Some(answer) => answer(asked),
            None => Answer::Error { code: RpcError::USER_REJECTED, message: "nobody can be asked".to_owned() },
        };
        let Some(mut other) = Client::connect(&self.layout)? else { return Ok(()) };
        let lost = |error: io::Error| failed("the connection to the running hub broke", &error);
        write_line(&mut other.stream, &Request::Answer { id: asked.id, answer }).await.map_err(lost)?;
        // The response says that the hub has the answer.
        other.stream.read_line(&mut String::new()).await.map(drop).map_err(lost)
    }

    /// Sends a request to the running hub and waits for the response. Calls `tell` with each notification that the hub passes
    /// on.
    ///
    /// If this process ends before the response arrives, the hub cancels the tool call.
    pub(super) async fn ask(&mut self, request: &Request, tell: OnNotice<'_>) -> Result<Json, HubError> {
        let lost = |error: io::Error| failed("the connection to the running hub broke", &error);
        write_line(&mut self.stream, request).await.map_err(lost)?;
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).await.map_err(lost)? == 0 {
                return Err(HubError::unavailable("the running hub has ended"));
            }
            let response = serde_json::from_str(&line)
                .map_err(|error| HubError::unavailable(format!("the hub's answer cannot be read: {error}")))?;
            match response {
                Response::Notice(notice) => tell(notice),
                Response::Asked(asked) => self.answer(&asked).await?,
                Response::Note(note) => drop(self.console.as_ref().map(|console| console.warn(&text::line(&note)))),
                Response::Done(json) => return Ok(json),
                Response::Error(error) => return Err(error.into()),
            }
        }
    }
}
