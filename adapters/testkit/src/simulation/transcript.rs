//! [`Transcript`]: the requests of a simulated client, with the responses of the server under test.

use mcpwire_driver::protocol::{CallToolResult, Json};
use serde_json::Value;

use super::client_script::request_number;
use super::script::shorten;

/// The requests that a simulated client has sent to a server under test, with the responses of the server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Transcript {
    /// The requests of the client, in order, with their responses. The first is `initialize`.
    pub exchanges: Vec<Exchange>,
    /// The lines of the server that are no responses to these requests, such as notifications.
    pub other_lines: Vec<String>,
}

/// A request that a simulated client has sent, and the responses of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// The id of the request.
    pub id: Json,
    /// The method of the request.
    pub method: String,
    /// The parameters of the request.
    pub params: Json,
    /// Whether the client has cancelled the request. The server may then leave it unanswered.
    pub is_cancelled: bool,
    /// The messages of the server with the id of the request. A correct server sends one.
    pub responses: Vec<Json>,
}

impl Exchange {
    /// Returns the result of the request, or `None` if the server has sent an error or no response.
    pub fn result(&self) -> Option<Json> {
        self.responses.first()?.member("result")
    }

    /// Returns the argument `name` of a tool call, or `None` if the request does not have it.
    pub fn argument(&self, name: &str) -> Option<Json> {
        self.params.member::<Json>("arguments")?.member(name)
    }

    /// Returns the name of the tool that the request calls, or `None` if it calls none.
    pub fn tool(&self) -> Option<String> {
        if self.method == "tools/call" { self.params.member("name") } else { None }
    }
}

impl Transcript {
    /// Checks the rules of the protocol for all servers. Each line is a JSON-RPC message. Each request that is not cancelled has
    /// exactly one response, with a result or an error. Results of `tools/call` have the shape of the specification.
    ///
    /// # Errors
    /// A description of the first violation.
    pub fn check_protocol(&self) -> Result<(), String> {
        for line in &self.other_lines {
            let message = Json::parse(&**line).map_err(|error| format!("the line {line:?} is not JSON: {error}"))?;
            // A response that matches no request may answer a line that was nearly a request.
            let is_message = ["method", "result", "error"].iter().any(|name| message.member::<Json>(name).is_some());
            if !is_message {
                return Err(format!("the line {line:?} is no message"));
            }
        }
        for exchange in &self.exchanges {
            let Exchange { id, method, params, is_cancelled, responses } = exchange;
            let place = || format!("the request {method} {} with the id {id}", shorten(params));
            match &**responses {
                [] if *is_cancelled => {}
                [response] => {
                    if response.member::<String>("jsonrpc").as_deref() != Some("2.0") {
                        return Err(format!("{} has the response {response} without `jsonrpc`", place()));
                    }
                    let parts = ["result", "error"].map(|name| response.member::<Json>(name).is_some());
                    if parts[0] == parts[1] {
                        return Err(format!("{} has the response {response}", place()));
                    }
                    let result = exchange.result().filter(|_| method == "tools/call");
                    let is_bad = |result: &Json| {
                        result.decode::<CallToolResult>().map_or(true, |result| result.without_content.is_some())
                    };
                    if let Some(result) = result.filter(is_bad) {
                        return Err(format!("{} has the result {result}, which is none of a tool", place()));
                    }
                }
                [] => return Err(format!("{} has 0 responses{}", place(), self.unassigned())),
                responses => {
                    let texts: Vec<_> = responses.iter().map(shorten).collect();
                    return Err(format!("{} has {} responses: {}", place(), responses.len(), texts.join(", ")));
                }
            }
        }
        Ok(())
    }

    /// Returns a hint for an error text: the first response that matches no request, for example because its id is wrong. Empty
    /// if there is none.
    fn unassigned(&self) -> String {
        let messages = self.other_lines.iter().filter_map(|line| Json::parse(&**line).ok());
        let mut responses = messages.filter(|message| message.member::<String>("method").is_none());
        match responses.next() {
            Some(message) => format!("; the server sent {}, which has the id of no request", shorten(&message)),
            None => String::new(),
        }
    }

    /// Adds a request that has no response yet.
    pub(super) fn add(&mut self, id: String, method: String, params: Json) {
        let id = Value::from(id).into();
        self.exchanges.push(Exchange { id, method, params, is_cancelled: false, responses: Vec::new() });
    }

    /// Adds a line of the server: as a response to the request with its id, or else to [`Transcript::other_lines`].
    pub(super) fn receive(&mut self, line: &str) {
        let message = Json::parse(line).ok().filter(|message| message.member::<String>("method").is_none());
        let number = message.as_ref().and_then(|message| request_number(&message.member::<String>("id")?));
        match (message, number.and_then(|number| self.exchanges.get_mut(number))) {
            (Some(message), Some(exchange)) => exchange.responses.push(message),
            _ => self.other_lines.push(line.to_owned()),
        }
    }

    /// Returns whether each request that is not cancelled has a response.
    pub(super) fn is_answered(&self) -> bool {
        self.exchanges.iter().all(|exchange| exchange.is_cancelled || !exchange.responses.is_empty())
    }
}
