//! [`Server`]: the demo server as a state machine. It takes messages and the time, and returns messages.
//!
//! It does no I/O. A transport calls [`Server::receive`] for each message, and [`Server::handle_timeout`] at the time of
//! [`Server::next_timeout`]. After each call, it sends the messages that [`Server::poll_output`] returns.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::greet;
use crate::output::waited;
use crate::pending::{Answer, Pending, PendingRequest, Route, Wait};
use crate::resources;
use crate::revision::{Revision, SUBSCRIPTION_ID, server_info};
use crate::rpc::{self, Failure, INVALID_REQUEST};
use crate::tasks::{self, Tasks};

pub(crate) const INSTRUCTIONS: &str = "A server to try a client on. `echo` and `add` answer at once, `slow` takes its \
                                       time, reports progress and can become a task, `fail` reports an error, \
                                       `weather` invents its data, `greet` asks the user who they are.";

/// The demo server as a state machine, with the state of all clients.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// The state of the legacy clients, by connection. For modern clients, the server stores no state.
    connections: BTreeMap<u64, Connection>,
    last_connection: u64,
    pub(crate) pending: Pending,
    pub(crate) tasks: Tasks,
    /// The number of tool calls so far, which is the content of the resource [`resources::CALLS`].
    pub(crate) tool_calls: u64,
    /// Whether the resource [`resources::CALLS`] has changed since its subscribers were last notified.
    pub(crate) is_changed: bool,
    /// The number of requests that the server has sent to clients so far. It numbers their ids.
    pub(crate) questions: u64,
    outputs: VecDeque<Output>,
}

/// The state of the connection of a legacy client.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// The protocol revision that `initialize` has negotiated. `None` before `initialize`.
    pub(crate) negotiated: Option<Revision>,
    /// Whether the client has declared elicitation by forms, so that the server may ask the user.
    pub(crate) can_be_asked: bool,
    /// The resources that the client has subscribed to with `resources/subscribe`.
    pub(crate) subscriptions: BTreeSet<String>,
}

/// An action that the server asks its transport to perform.
#[derive(Debug)]
pub(crate) enum Output {
    /// Send a message over this route.
    Message(Route, Value),
    /// A request of this route was answered or cancelled. If the route [has no pending requests](Server::has_pending), its stream
    /// can end.
    Ended(Route),
    /// Write a line to the log.
    Log(String),
}

impl Server {
    /// Creates a server without clients. Times are measured from `started`, the date of the start.
    pub(crate) fn new(started: SystemTime) -> Self {
        Self { tasks: Tasks::new(started), ..Self::default() }
    }

    /// Adds the connection of a client. Returns its number, for a [`Route`].
    pub(crate) fn connect(&mut self) -> u64 {
        self.last_connection += 1;
        self.last_connection
    }

    /// Removes a connection that has ended, and its pending requests.
    pub(crate) fn disconnect(&mut self, connection: u64) {
        self.connections.remove(&connection);
        self.pending.remove_connection(connection);
    }

    /// Returns the protocol revision that a legacy client has negotiated. `None` before `initialize`, and for modern clients.
    pub(crate) fn negotiated(&self, connection: u64) -> Option<Revision> {
        self.connections.get(&connection)?.negotiated
    }

    pub(crate) fn connection(&mut self, connection: u64) -> &mut Connection {
        self.connections.entry(connection).or_default()
    }

    /// Returns whether a request of this route is not answered yet, so that its stream must stay open.
    pub(crate) fn has_pending(&self, route: Route) -> bool {
        self.pending.iter().any(|request| request.route == route)
    }

    /// Returns the next action for the transport to perform, or `None` if there is none.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns the time at which the transport must call [`Server::handle_timeout`], or `None` if no request waits for a time.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.pending.deadline()
    }

    /// Parses a message of a client and handles it. Answers a text that is not JSON with an error.
    pub(crate) fn receive_text(&mut self, route: Route, text: &[u8], now: Duration) {
        match serde_json::from_slice(text) {
            Ok(message) => self.receive(route, &message, now),
            Err(error) => self.refuse(route, &Value::Null, Failure::not_json(&error)),
        }
    }

    /// Handles a message of a client, or a batch of messages.
    pub(crate) fn receive(&mut self, route: Route, message: &Value, now: Duration) {
        match message {
            Value::Array(batch) => self.batch(route, batch, now),
            message => self.message(route, message, now),
        }
        self.notify_subscribers();
        self.handle_timeout(now);
    }

    /// Handles each message of a batch. Each answer is sent separately, because a slow call must not delay the other answers.
    fn batch(&mut self, route: Route, batch: &[Value], now: Duration) {
        let is_known = self.negotiated(route.connection).is_some_and(Revision::has_batches);
        if !is_known || batch.is_empty() {
            let failure = Failure::new(INVALID_REQUEST, "a message is one JSON object");
            return self.refuse(route, &Value::Null, failure);
        }
        for message in batch {
            self.message(route, message, now);
        }
    }

    fn message(&mut self, route: Route, message: &Value, now: Duration) {
        let no_params = Map::new();
        let method = message.get("method").and_then(Value::as_str);
        let params = match message.get("params") {
            None => Some(&no_params),
            Some(params) => params.as_object(),
        };
        match (method, message.get("id")) {
            (Some("notifications/cancelled"), None) => {
                if let Some(id) = params.and_then(|params| params.get("requestId")) {
                    let reason = params.and_then(|params| params.get("reason")).and_then(Value::as_str);
                    self.cancel(route.connection, id, reason);
                }
            }
            // Other notifications have no effect.
            (Some(_), None) => {}
            (Some(method), Some(id)) if id.is_string() || id.is_i64() || id.is_u64() => {
                let answer = params
                    .ok_or_else(|| Failure::invalid_params("params must be an object"))
                    .and_then(|params| self.request(route, method, params, now))
                    .and_then(|(revision, answer)| self.answer(route, id, revision, answer));
                if let Err(failure) = answer {
                    self.refuse(route, id, failure);
                }
            }
            (None, Some(_)) if message.get("result").is_some() || message.get("error").is_some() => {
                self.answered(route.connection, message);
            }
            _ => {
                let failure = Failure::new(INVALID_REQUEST, "a request has a method and a string or integer id");
                self.refuse(route, &Value::Null, failure);
            }
        }
    }

    /// Sends the answer to a request, or stores the request as pending until its wait is over.
    fn answer(&mut self, route: Route, id: &Value, revision: Revision, answer: Answer) -> Result<(), Failure> {
        let wait = match answer {
            Answer::Now(result) => {
                self.send(route, rpc::result(id, &result));
                return Ok(());
            }
            Answer::Later(wait) => wait,
        };
        let first = match &wait {
            Wait::Answer(question) => Some(rpc::request(question, "elicitation/create", &greet::question())),
            Wait::Subscription(resources) => Some(acknowledgment(id, resources)),
            Wait::Slow(_) | Wait::Task(..) => None,
        };
        self.pending.add(PendingRequest { route, id: id.clone(), revision, wait })?;
        if let Some(first) = first {
            self.send(route, first);
        }
        Ok(())
    }

    /// Handles a client's response to a request of the server: completes the tool call that waits for it. Ignores unknown
    /// responses.
    fn answered(&mut self, connection: u64, message: &Value) {
        let Some(id) = message.get("id").and_then(Value::as_str) else { return };
        let asked = |request: &PendingRequest| {
            request.route.connection == connection && matches!(&request.wait, Wait::Answer(question) if question == id)
        };
        if let Some(request) = self.pending.remove_if(asked) {
            let result = greet::answered(message).into_result(request.revision);
            self.send(request.route, rpc::result(&request.id, &result));
            self.outputs.push_back(Output::Ended(request.route));
        }
    }

    /// Cancels a pending request, so that it is never answered. Ignores unknown and answered requests.
    pub(crate) fn cancel(&mut self, connection: u64, id: &Value, reason: Option<&str>) {
        let Some(request) = self.pending.remove(connection, id) else { return };
        match &request.wait {
            Wait::Slow(_) => {
                let reason = reason.unwrap_or("no reason given");
                self.outputs.push_back(Output::Log(format!("request {id} was cancelled: {reason}")));
            }
            Wait::Answer(question) => {
                let params = json!({ "requestId": question, "reason": "the call was cancelled" });
                self.send(request.route, rpc::notification("notifications/cancelled", &params));
            }
            Wait::Task(..) | Wait::Subscription(_) => {}
        }
        self.outputs.push_back(Output::Ended(request.route));
    }

    /// Answers the `tasks/result` requests that wait for a cancelled task with an error.
    pub(crate) fn task_cancelled(&mut self, task: &str) {
        let waits = |request: &PendingRequest| matches!(&request.wait, Wait::Task(id, _) if id == task);
        while let Some(request) = self.pending.remove_if(waits) {
            self.refuse(request.route, &request.id, Failure::invalid_params(tasks::CANCELLED));
            self.outputs.push_back(Output::Ended(request.route));
        }
    }

    /// Performs all actions that are due: sends progress reports, and answers slow calls and requests for results of tasks.
    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        while let Some(request) = self.pending.due(now) {
            let (route, id) = (request.route, request.id.clone());
            match &mut request.wait {
                Wait::Slow(call) => {
                    let report = call.progress_token.as_ref().map(|token| progress(token, call.next, call.length));
                    let is_over = call.is_over();
                    let result = waited(call.length).into_result(request.revision);
                    call.advance();
                    if let Some(report) = report {
                        self.send(route, report);
                    }
                    if !is_over {
                        continue;
                    }
                    self.send(route, rpc::result(&id, &result));
                }
                Wait::Task(task, _) => {
                    let length = self.tasks.length(task).unwrap_or_default();
                    let result = tasks::result(task, length, request.revision);
                    self.send(route, rpc::result(&id, &result));
                }
                Wait::Answer(_) | Wait::Subscription(_) => return,
            }
            self.pending.remove(route.connection, &id);
            self.outputs.push_back(Output::Ended(route));
        }
    }

    /// Notifies the subscribers of the resource [`resources::CALLS`] if it has changed since the last call.
    fn notify_subscribers(&mut self) {
        if !std::mem::take(&mut self.is_changed) {
            return;
        }
        let legacy = self.connections.iter().filter(|(_, client)| client.subscriptions.contains(resources::CALLS));
        let legacy = legacy.map(|(connection, _)| (Route::general(*connection), json!({ "uri": resources::CALLS })));
        let modern = self.pending.iter().filter_map(|request| match &request.wait {
            Wait::Subscription(resources) if resources.contains(resources::CALLS) => {
                let meta = json!({ SUBSCRIPTION_ID: request.id });
                Some((request.route, json!({ "uri": resources::CALLS, "_meta": meta })))
            }
            _ => None,
        });
        let updates: Vec<_> = legacy.chain(modern).collect();
        for (route, params) in updates {
            self.send(route, rpc::notification("notifications/resources/updated", &params));
        }
    }

    fn refuse(&mut self, route: Route, id: &Value, failure: Failure) {
        self.send(route, rpc::error(id, failure));
    }

    fn send(&mut self, route: Route, message: Value) {
        self.outputs.push_back(Output::Message(route, message));
    }
}

fn progress(token: &Value, done: Duration, total: Duration) -> Value {
    let (done, total) = (done.as_secs_f64(), total.as_secs_f64());
    let params = json!({
        "progressToken": token,
        "progress": done,
        "total": total,
        "message": format!("{done:.1} of {total:.1} s"),
    });
    rpc::notification("notifications/progress", &params)
}

/// Returns the first message of a subscription. It lists the resources whose changes the server will report.
fn acknowledgment(id: &Value, resources: &BTreeSet<String>) -> Value {
    let agreed = if resources.is_empty() { json!({}) } else { json!({ "resourceSubscriptions": resources }) };
    let params = json!({ "_meta": { SUBSCRIPTION_ID: id }, "notifications": agreed });
    rpc::notification("notifications/subscriptions/acknowledged", &params)
}

/// Returns the result of `initialize` for the negotiated revision.
pub(crate) fn initialized(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision.as_str(),
        "capabilities": capabilities(revision),
        "serverInfo": server_info(revision),
        "instructions": INSTRUCTIONS,
    })
}

/// Returns the capabilities that the server declares in a protocol revision.
pub(crate) fn capabilities(revision: Revision) -> Value {
    let mut capabilities = json!({ "tools": {}, "prompts": {}, "resources": { "subscribe": true } });
    if revision.has_completions_capability() {
        capabilities["completions"] = json!({});
    }
    match revision {
        Revision::V2026_07_28 => capabilities["extensions"] = json!({ tasks::EXTENSION: {} }),
        Revision::V2025_11_25 => {
            capabilities["tasks"] = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        }
        _ => {}
    }
    capabilities
}
