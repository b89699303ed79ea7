//! [`Server`]: a state machine that takes messages and the time, and returns messages.
//!
//! It does no I/O. A transport calls [`Server::receive`] for each message, [`Server::handle_timeout`] when
//! [`Server::next_timeout`] has passed, and after either sends what [`Server::poll_output`] returns.

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

/// The server, with the state of all clients.
#[derive(Debug, Default)]
pub(crate) struct Server {
    /// The legacy clients, by connection. Modern clients have no state.
    connections: BTreeMap<u64, Connection>,
    last_connection: u64,
    pub(crate) pending: Pending,
    pub(crate) tasks: Tasks,
    /// The content of the resource [`resources::CALLS`].
    pub(crate) tool_calls: u64,
    /// Whether [`resources::CALLS`] has changed since its subscribers were last notified.
    pub(crate) is_changed: bool,
    /// The number of requests to clients so far.
    pub(crate) questions: u64,
    outputs: VecDeque<Output>,
}

/// The state of a legacy client.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    /// The revision that `initialize` negotiated. `None` before it.
    pub(crate) negotiated: Option<Revision>,
    /// Whether the client has declared the capability for elicitation.
    pub(crate) can_be_asked: bool,
    /// The resources that the client has subscribed to with `resources/subscribe`.
    pub(crate) subscriptions: BTreeSet<String>,
}

/// An action of the transport.
#[derive(Debug)]
pub(crate) enum Output {
    /// Send a message.
    Message(Route, Value),
    /// Check whether the route [has pending requests](Server::has_pending), because one was answered.
    Ended(Route),
    /// Write a line to the log.
    Log(String),
}

impl Server {
    /// Creates a server without clients. `started` is the date at which its time is zero.
    pub(crate) fn new(started: SystemTime) -> Self {
        Self { tasks: Tasks::new(started), ..Self::default() }
    }

    /// Adds a connection. Returns its number.
    pub(crate) fn connect(&mut self) -> u64 {
        self.last_connection += 1;
        self.last_connection
    }

    /// Removes a connection and its requests.
    pub(crate) fn disconnect(&mut self, connection: u64) {
        self.connections.remove(&connection);
        self.pending.remove_connection(connection);
    }

    /// Returns the revision that a legacy client has negotiated, or `None` before `initialize` and for modern clients.
    pub(crate) fn negotiated(&self, connection: u64) -> Option<Revision> {
        self.connections.get(&connection)?.negotiated
    }

    pub(crate) fn connection(&mut self, connection: u64) -> &mut Connection {
        self.connections.entry(connection).or_default()
    }

    /// Returns whether a request of this route is not answered yet.
    pub(crate) fn has_pending(&self, route: Route) -> bool {
        self.pending.iter().any(|request| request.route == route)
    }

    /// Returns the next action of the transport, or `None` if there is none.
    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns the time at which to call [`Server::handle_timeout`], or `None` if nothing depends on the time.
    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.pending.deadline()
    }

    /// Parses and handles a message.
    pub(crate) fn receive_text(&mut self, route: Route, text: &[u8], now: Duration) {
        match serde_json::from_slice(text) {
            Ok(message) => self.receive(route, &message, now),
            Err(error) => self.refuse(route, &Value::Null, Failure::not_json(&error)),
        }
    }

    /// Handles a message or a batch.
    pub(crate) fn receive(&mut self, route: Route, message: &Value, now: Duration) {
        match message {
            Value::Array(batch) => self.batch(route, batch, now),
            message => self.message(route, message, now),
        }
        self.notify_subscribers();
        self.handle_timeout(now);
    }

    /// Answers each message of a batch separately, because a slow call must not hold up the others.
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

    /// Sends the answer to a request, or stores the request until its wait is over.
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

    /// Completes the call whose request to the client this message answers. Ignores an answer to an unknown request.
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

    /// Cancels a request, which is then never answered. Unknown and answered requests are ignored.
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

    /// Fails the requests that wait for the result of a cancelled task.
    pub(crate) fn task_cancelled(&mut self, task: &str) {
        let waits = |request: &PendingRequest| matches!(&request.wait, Wait::Task(id, _) if id == task);
        while let Some(request) = self.pending.remove_if(waits) {
            self.refuse(request.route, &request.id, Failure::invalid_params(tasks::CANCELLED));
            self.outputs.push_back(Output::Ended(request.route));
        }
    }

    /// Performs all actions that are due: reports progress, and ends slow calls and tasks.
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

    /// Notifies the subscribers of [`resources::CALLS`], if it has changed.
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

/// Returns the first message of a subscription, which lists the changes that the server will report.
fn acknowledgment(id: &Value, resources: &BTreeSet<String>) -> Value {
    let agreed = if resources.is_empty() { json!({}) } else { json!({ "resourceSubscriptions": resources }) };
    let params = json!({ "_meta": { SUBSCRIPTION_ID: id }, "notifications": agreed });
    rpc::notification("notifications/subscriptions/acknowledged", &params)
}

/// Returns the answer to `initialize`.
pub(crate) fn initialized(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision.as_str(),
        "capabilities": capabilities(revision),
        "serverInfo": server_info(revision),
        "instructions": INSTRUCTIONS,
    })
}

/// Returns the capabilities of the server in a revision.
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
