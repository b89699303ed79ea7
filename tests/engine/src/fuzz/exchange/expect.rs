//! What a client must report for a message: the decisions of `docs/wire.md`, written plainly over [`Value`].

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::tasks::Task;
use super::wire::{NUMERAL, ONCE_MORE};

/// A request of the client that has no final response yet.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Position in the order in which the caller made the requests.
    pub(super) which: usize,
    pub(super) id: u64,
    pub(super) method: &'static str,
    /// Whether the client polls a task that the server creates for this request.
    pub(super) follows_tasks: bool,
    /// Whether the caller decodes the result as a `CallToolResult`.
    pub(super) is_typed: bool,
    pub(super) rounds: u32,
}

/// What the client reports to its caller.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Report {
    Reply {
        which: usize,
        outcome: Outcome,
    },
    ServerRequest(Question),
    /// The server has withdrawn the question: it no longer needs an answer.
    Withdrawn(Question),
    ServerRequestRefused {
        method: String,
    },
    Notification(Value),
    Progress {
        which: usize,
    },
    /// The request has become a task, or the task has another status.
    Task {
        which: usize,
    },
    InvalidMessage,
    UnmatchedError {
        code: i64,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Result(Value),
    Error(i64),
    /// The response violates the specification.
    Invalid,
    /// The server requires an input that the client does not offer.
    InputNotOffered,
    /// The task has ended otherwise.
    Task(&'static str),
}

/// What the client sends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sent {
    /// The request is sent again, with these members.
    Again {
        which: usize,
        state: Option<Value>,
        /// The parameters of each input that is answered.
        inputs: BTreeMap<String, Value>,
    },
    /// `tasks/get`, `tasks/update` and `tasks/cancel`.
    Get {
        task: String,
    },
    Update {
        task: String,
        inputs: BTreeMap<String, Value>,
    },
    Cancel {
        task: String,
    },
    Result {
        id: Value,
        /// The parameters of the request, if the caller has answered it.
        to: Option<Value>,
    },
    Error {
        id: Value,
        code: i64,
    },
}

/// A `roots/list` for which the server needs an answer, as the caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// The request of the client for which the server asks.
    pub(super) during: Option<usize>,
    pub(super) params: Option<Value>,
}

/// Where the answer to a question belongs.
#[derive(Debug)]
pub(super) enum Asker {
    /// The answer is the response to the server's request with this id.
    Request(Value),
    /// The answer is the entry with this name of `inputResponses`, when the call that [`Question::during`] names is sent again.
    Input(String),
    /// The answer is the entry with this name of `inputResponses` in a `tasks/update`.
    TaskInput(String),
}

/// A request whose inputs are not all answered.
pub(super) struct Paused {
    request: Request,
    state: Option<Value>,
    missing: usize,
    answers: BTreeMap<String, Value>,
}

/// The state of a client, as far as it decides what a message means.
#[derive(Default)]
pub(super) struct Client {
    pub(super) is_modern: bool,
    /// Whether the caller follows tasks in all requests, and the server mostly answers with tasks.
    pub(super) prefers_tasks: bool,
    pub(super) requests: Vec<Request>,
    /// The requests that have become tasks, which the client polls.
    pub(super) tasks: Vec<Task>,
    /// The questions that the caller has not answered, oldest first.
    pub(super) kept: Vec<(Question, Asker)>,
    pub(super) paused: Vec<Paused>,
    /// The ids of requests that no response can end: they have ended, have become tasks or were sent again.
    pub(super) old_ids: Vec<u64>,
    pub(super) reports: Vec<Report>,
    pub(super) sent: Vec<Sent>,
}

const MAX_ROUNDS: u32 = 10;

const MAX_DEPTH: usize = 128;

impl Client {
    pub(super) fn receive(&mut self, message: &Value) {
        match message {
            Value::Array(batch) if batch.is_empty() => self.reports.push(Report::InvalidMessage),
            Value::Array(batch) => batch.iter().for_each(|message| self.one(message)),
            message => self.one(message),
        }
    }

    fn one(&mut self, message: &Value) {
        let Some(message) = message.as_object() else { return self.reports.push(Report::InvalidMessage) };
        let id = message.get("id");
        let is_response = message.contains_key("result") || message.contains_key("error");
        match (message.get("method").and_then(text), id) {
            (Some(method), Some(id)) if !is_response => self.request(id, method, message),
            (Some(method), None) => self.notification(method, message),
            (_, Some(Value::Null)) => self.without_id(message),
            (_, None) if is_response => self.without_id(message),
            (_, Some(id)) => {
                let Some(id) = number(id) else { return };
                match self.requests.iter().position(|request| request.id == id) {
                    Some(at) => self.response(at, message),
                    None => self.task_response(id, message),
                }
            }
            (None, None) => self.reports.push(Report::InvalidMessage),
        }
    }

    pub(super) fn ask(&mut self, question: Question, asker: Asker) {
        self.reports.push(Report::ServerRequest(question.clone()));
        self.kept.push((question, asker));
    }

    /// The caller answers a question. Of several that are equal, the first.
    pub(super) fn answer(&mut self, question: &Question) {
        let at = self.kept.iter().position(|(kept, _)| kept == question).expect("a question that was asked");
        let (question, asker) = self.kept.remove(at);
        let to = json!(question.params);
        let name = match asker {
            Asker::Request(id) => return self.sent.push(Sent::Result { id, to: Some(to) }),
            Asker::Input(name) => name,
            Asker::TaskInput(name) => {
                return self.task_input_answered(question.during.expect("a task"), name, to);
            }
        };
        let is_owner = |paused: &Paused| Some(paused.request.which) == question.during;
        let at = self.paused.iter().position(is_owner).expect("a request that waits");
        let paused = &mut self.paused[at];
        paused.answers.insert(name, to);
        paused.missing -= 1;
        if paused.missing == 0 {
            let Paused { request, state, answers, .. } = self.paused.remove(at);
            self.send_again(request, state, answers);
        }
    }

    fn send_again(&mut self, mut request: Request, state: Option<Value>, inputs: BTreeMap<String, Value>) {
        self.sent.push(Sent::Again { which: request.which, state, inputs });
        request.rounds += 1;
        // Its next id is read from what the client sends.
        request.id = u64::MAX;
        self.requests.push(request);
    }

    fn without_id(&mut self, message: &Map<String, Value>) {
        if is_unreadable(message) {
            return self.reports.push(Report::InvalidMessage);
        }
        self.reports.push(match (message.get("result"), error_code(message)) {
            (None | Some(Value::Null), Some(code)) => Report::UnmatchedError { code },
            _ => Report::InvalidMessage,
        });
    }

    fn request(&mut self, id: &Value, method: &str, message: &Map<String, Value>) {
        let refused = Report::ServerRequestRefused { method: method.to_owned() };
        if self.is_modern || !(id.is_string() || id.is_number()) {
            return self.reports.push(refused);
        }
        let id = as_read(id);
        match method {
            "ping" => self.sent.push(Sent::Result { id, to: None }),
            "roots/list" if is_unreadable(message) => {
                self.reports.push(refused);
                self.sent.push(Sent::Error { id, code: -32602 });
            }
            "roots/list" => {
                let params = message.get("params").map(as_read);
                self.ask(Question { during: None, params }, Asker::Request(id));
            }
            _ => {
                self.reports.push(refused);
                self.sent.push(Sent::Error { id, code: -32601 });
            }
        }
    }

    fn notification(&mut self, method: &str, message: &Map<String, Value>) {
        if is_unreadable(message) {
            return self.reports.push(Report::InvalidMessage);
        }
        if method == "notifications/progress" {
            let id = message.get("params").and_then(|params| params.get("progressToken")).and_then(number);
            // The token of a request remains valid while its task runs.
            let request = self
                .requests
                .iter()
                .chain(self.tasks.iter().map(|task| &task.request))
                .find(|request| Some(request.id) == id);
            return self.reports.extend(request.map(|request| Report::Progress { which: request.which }));
        }
        let mut notification = json!({ "method": method });
        if let Some(params) = message.get("params") {
            notification["params"] = as_read(params);
        }
        self.reports.push(Report::Notification(notification));
    }

    fn response(&mut self, at: usize, message: &Map<String, Value>) {
        let request = self.requests.remove(at);
        self.old_ids.push(request.id);
        let result = message.get("result").filter(|result| !result.is_null());
        let has_error = message.get("error").is_some_and(|error| !error.is_null());
        let outcome = match (result, has_error) {
            _ if is_unreadable(message) => Outcome::Invalid,
            (Some(_), true) => Outcome::Invalid,
            (None, true) => error_code(message).map_or(Outcome::Invalid, Outcome::Error),
            // A caller of JSON text receives the `null`.
            (None, false) if message.contains_key("result") && !request.is_typed => Outcome::Result(Value::Null),
            (None, false) => Outcome::Invalid,
            (Some(result), false) => match self.result(request.clone(), result) {
                Some(outcome) => outcome,
                None => return,
            },
        };
        self.reports.push(Report::Reply { which: request.which, outcome });
    }

    /// Returns `None` if the result is not the last one of the request.
    fn result(&mut self, request: Request, result: &Value) -> Option<Outcome> {
        let result_type = member(result, "resultType");
        let is_call = request.method == "tools/call";
        if self.is_modern && is_call && result_type == Some(&json!("input_required")) {
            return self.input_required(request, result);
        }
        let is_task = if self.is_modern {
            result_type == Some(&json!("task"))
        } else {
            let has_task = result.get("task").is_some_and(Value::is_object);
            has_task && result.get("content").is_none() && result.get("resultType").is_none()
        };
        if is_call && request.follows_tasks && is_task {
            let task = if self.is_modern { result } else { &result["task"] };
            let Some(id) = text(&task["taskId"]) else { return Some(Outcome::Invalid) };
            self.reports.push(Report::Task { which: request.which });
            self.tasks.push(Task::new(id, request));
            return None;
        }
        if request.is_typed && result_type.is_some_and(|name| *name != "complete") {
            // A task or a question that nobody expects is no result of a tool, on no revision.
            return Some(Outcome::Invalid);
        }
        Some(outcome_of(&request, result))
    }

    fn input_required(&mut self, request: Request, result: &Value) -> Option<Outcome> {
        if request.rounds == MAX_ROUNDS {
            return Some(Outcome::InputNotOffered);
        }
        let is_wrong =
            |name: &str, is_right: fn(&Value) -> bool| member(result, name).is_some_and(|value| !is_right(value));
        if is_wrong("inputRequests", Value::is_object) || is_wrong("requestState", |state| text(state).is_some()) {
            return Some(Outcome::Invalid);
        }
        // An empty object of inputs is none.
        let is_empty = member(result, "inputRequests").is_none_or(|inputs| *inputs == json!({}));
        let state = member(result, "requestState");
        if is_empty && state.is_none() {
            return Some(Outcome::Invalid);
        }
        let inputs = result.get("inputRequests").and_then(Value::as_object).cloned().unwrap_or_default();
        if !inputs.values().all(|input| input["method"].is_string()) {
            return Some(Outcome::Invalid);
        }
        if inputs.values().any(|input| input["method"] != "roots/list") {
            return Some(Outcome::InputNotOffered);
        }
        let (state, missing) = (state.cloned(), inputs.len());
        if missing == 0 {
            self.send_again(request, state, BTreeMap::new());
            return None;
        }
        for (name, input) in inputs {
            let params = member(&input, "params").map(as_read);
            self.ask(Question { during: Some(request.which), params }, Asker::Input(name));
        }
        self.paused.push(Paused { request, state, missing, answers: BTreeMap::new() });
        None
    }
}

/// Returns a member of a result. A member that is `null` is as good as none.
pub(super) fn member<'a>(result: &'a Value, name: &str) -> Option<&'a Value> {
    result.get(name).filter(|value| !value.is_null())
}

pub(super) fn outcome_of(request: &Request, result: &Value) -> Outcome {
    Outcome::Result(if request.is_typed { typed(result) } else { as_read(result) })
}

/// The parts of a tool's result that are compared.
fn typed(result: &Value) -> Value {
    match result.get("content") {
        Some(Value::Array(content)) => json!({
            "content": content.len(),
            "isError": result.get("isError") == Some(&Value::Bool(true)),
            "structuredContent": result.get("structuredContent").map(as_read),
        }),
        _ => json!("no content"),
    }
}

/// Returns the code of an error, as far as it can be read: 0 for an object without one, and for a text.
pub(super) fn error_code(message: &Map<String, Value>) -> Option<i64> {
    match message.get("error")? {
        Value::Object(error) => Some(error.get("code").and_then(integer).unwrap_or(0)),
        error => text(error).map(|_| 0),
    }
}

/// Returns the contents of a text.
fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.starts_with(NUMERAL))
}

/// Returns the value with numbers in place of the texts that stand for them.
fn as_read(value: &Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix(NUMERAL) {
            Some(number) => serde_json::from_str(number).expect("a number"),
            None => value.clone(),
        },
        Value::Array(list) => list.iter().map(as_read).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), as_read(value))).collect(),
        other => other.clone(),
    }
}

/// Returns whether the client cannot read the message: it is nested too deep, or has a member twice that it must have once.
fn is_unreadable(message: &Map<String, Value>) -> bool {
    message.contains_key(ONCE_MORE) || 1 + message.values().map(depth).max().unwrap_or(0) > MAX_DEPTH
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the number that an id means: `2`, `2.0` and `"2"` mean 2.
pub(super) fn number(id: &Value) -> Option<u64> {
    integer(id).and_then(|id| id.try_into().ok())
}

fn integer(value: &Value) -> Option<i64> {
    let text = match value {
        Value::String(text) => text.trim_start_matches(NUMERAL).to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => whole.parse().ok(),
        _ => text.parse().ok(),
    }
}
