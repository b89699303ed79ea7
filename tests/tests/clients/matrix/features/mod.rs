//! What a program does with each feature, and how it can be seen that it works, or how it does not.

use std::fmt::Debug;

use mcpwire_driver::Error;
use mcpwire_driver::protocol::{
    CallToolResult, Era, Json, Method, Params, ProtocolVersion, RequestOptions, SendError, Tool,
};
use mcpwire_testkit::{RecordedMessage, ScriptedServer};
use serde_json::{Value, json};

use clients::Client;

pub(crate) mod asks;
pub(crate) mod clients;
pub(crate) mod offers;
pub(crate) mod requests;
pub(crate) mod server;
pub(crate) mod tasks;
pub(crate) mod tools;

/// What comes of a feature in a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It works.
    Works,
    /// It fails at once with an error that says why, and the server is sent nothing.
    FailsLocally,
    /// The same call works without it.
    Without,
}

use Outcome::{FailsLocally, Without, Works};

/// A client of a server of this revision.
pub(crate) struct On<C> {
    pub(crate) client: C,
    pub(crate) server: ScriptedServer,
    pub(crate) version: ProtocolVersion,
}

/// The error is an outcome as well, so that a request that is not sent may end a test with `?`.
pub(crate) type Tried = Result<Outcome, Outcome>;

impl<C: Client> On<C> {
    pub(crate) fn new(server: ScriptedServer, version: ProtocolVersion) -> Self {
        let mut client = C::open(&server);
        assert_eq!(client.version(), version);
        // All that the handshake has to say has come by the time that this is answered.
        client.ping().expect("the connection is open");
        server.take_recorded();
        On { client, server, version }
    }

    fn is_modern(&self) -> bool {
        self.version.era() == Era::Modern
    }

    /// Does something that works, or is not sent.
    #[track_caller]
    fn attempt<T: Debug>(&mut self, act: impl FnOnce(&mut C) -> Result<T, Error>) -> Result<T, Outcome> {
        let before = self.server.recorded().len();
        match act(&mut self.client) {
            Ok(value) => Ok(value),
            Err(error) => {
                match error.send_error().unwrap_or_else(|| panic!("{error}")) {
                    SendError::NotInRevision { version, .. } => {
                        assert_eq!(*version, self.version);
                        assert!(error.to_string().contains(self.version.as_str()), "{error}");
                    }
                    SendError::NoLogging => {
                        assert!(self.is_modern() && !error.to_string().contains("setLevel"), "{error}");
                    }
                    SendError::NotOffered { .. } => assert!(error.to_string().contains("does not offer"), "{error}"),
                    _ => panic!("{error}"),
                }
                // What was sent is sent in order: nothing of it came before this.
                self.client.ping().expect("the connection is as it was");
                let sent: Vec<_> = self.server.recorded().drain(before..).map(|sent| sent.method).collect();
                assert_eq!(sent, [if self.is_modern() { "server/discover" } else { "ping" }]);
                Err(FailsLocally)
            }
        }
    }

    fn request<M: Method<Result: Debug>>(&mut self, params: &impl Params<M>) -> Tried {
        self.attempt(|client| client.request::<M>(params, &RequestOptions::new())).map(|_| Works)
    }

    /// Waits for what a client sends in its own time.
    fn sent(&mut self, which: impl Fn(&RecordedMessage) -> bool) -> RecordedMessage {
        loop {
            match self.server.recorded().into_iter().find(&which) {
                Some(message) => return message,
                None => self.client.ping().expect("the connection is open"),
            }
        }
    }

    fn count(&self, method: &str) -> usize {
        self.server.requests().iter().filter(|request| request.method == method).count()
    }

    fn tool(&mut self, name: &str) -> Result<Tool, Outcome> {
        let tools = self.attempt(Client::tools)?;
        Ok(tools.into_iter().find(|tool| tool.name == name).expect("it is listed"))
    }

    /// What the server gets in answer to a question of its own.
    fn answer_to(&mut self, tool: &str) -> Result<Value, Outcome> {
        let result = self.attempt(|client| client.call(tool, &json!({})))?;
        if self.is_modern() {
            return Ok(serde_json::from_str(&text(&result)).expect("it is JSON"));
        }
        let answer = self.sent(|message| message.is_answer() && message.id == Json::parse(r#""ask""#).ok());
        Ok(answer.message.member("result").unwrap_or_else(|| panic!("it is refused: {}", answer.message)))
    }
}

fn text(result: &CallToolResult) -> String {
    result.text().to_string()
}

fn works_if(has: bool) -> Outcome {
    if has { Works } else { Without }
}
