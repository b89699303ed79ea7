//! Drives the engine through an exchange, and describes what it reports and sends as the reference does.

use std::collections::BTreeMap;
use std::time::Duration;

use mcpwire_core::http::{self, Settings};
use mcpwire_core::stdio::Engine;
use mcpwire_core::{
    CallError, CallTool, CallToolParams, CallToolRaw, Config, Event, Json, Negotiate, Notification, Raw, Reply,
    RequestKey, RequestOptions, ServerRequest, ServerRequestId, TaskError, TaskMode, Ticket, Timestamp,
};
use serde_json::{Value, json};

use super::expect::{Client, Outcome, Question, Report, Request, Sent};
use super::wire::{Http, LONE_SURROGATE_TEXT, Transport};
use crate::fuzz::content;
use crate::fuzz::describe::Names;
use crate::fuzz::trace::{Bytes, Trace};

const DAY: Duration = Duration::from_secs(86_400);

/// The name under which the parameters of a request carry its position.
const MARK: &str = "mark";

const REVISIONS: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

enum Asked {
    Text(Ticket<CallToolRaw>),
    Typed(Ticket<CallTool>),
    Any(Ticket<Raw>),
}

impl Asked {
    fn key(&self) -> RequestKey {
        match self {
            Asked::Text(ticket) => ticket.key(),
            Asked::Typed(ticket) => ticket.key(),
            Asked::Any(ticket) => ticket.key(),
        }
    }
}

pub(super) struct Driver {
    transport: Transport,
    now: Timestamp,
    asked: Vec<Asked>,
    reports: Vec<Report>,
    /// Whether the caller answers a request of the server as soon as it is reported.
    pub(super) answers_at_once: bool,
    /// The requests of the server that the caller has not answered, oldest first.
    kept: Vec<(ServerRequestId, Question)>,
    /// Those that it has answered at once.
    answered: Vec<Question>,
    names: Names,
    trace: Trace,
    /// The state of the engine that was last traced.
    state: String,
}

impl Driver {
    /// Opens a connection over a drawn transport, and sends requests. Returns the reference in the same state.
    pub(super) fn open(input: &mut Bytes<'_>, trace: &Trace) -> (Self, Client) {
        let setup = input.byte();
        let revision = [0, 0, 0, 1, 1, 2, 3, 4][usize::from(setup % 8)];
        let is_modern = revision == 0;
        let mut config = Config::new("fuzz", "1");
        config.answer_roots();
        // No request fails because time passes.
        (config.request_timeout, config.total_timeout) = (DAY, DAY);
        config.negotiate = if is_modern { Negotiate::Modern } else { Negotiate::Legacy };
        let result = if is_modern {
            json!({ "supportedVersions": [REVISIONS[revision]], "capabilities": { "tools": {} } })
        } else {
            let capabilities = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
            json!({ "protocolVersion": REVISIONS[revision], "capabilities": capabilities })
        };
        let transport = if setup & 128 == 0 {
            Transport::Stdio { engine: Box::new(Engine::new(config)), now: Timestamp::ORIGIN }
        } else {
            let mut settings = Settings::new("http://server.test/mcp").expect("an address");
            settings.flavour = Some(http::Flavour::Streamable);
            Transport::Http(Box::new(Http::new(http::Engine::new(config, settings))))
        };
        let mut driver = Driver {
            transport,
            now: Timestamp::ORIGIN,
            asked: Vec::new(),
            reports: Vec::new(),
            answers_at_once: false,
            kept: Vec::new(),
            answered: Vec::new(),
            names: Names::default(),
            trace: trace.clone(),
            state: String::new(),
        };
        driver.transport.calls().initialize(Timestamp::ORIGIN).expect("it is new");
        let _ = driver.transport.take_sent(trace);
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
        let delivery = driver.transport.deliver(&answer, Some(1), &mut Bytes::new(&[])).expect("it asks for it");
        driver.transport.receive(&delivery, &delivery.bytes);
        assert_eq!(driver.transport.poll_event(), Some(Event::Connected));
        driver.transport.finish(&delivery);
        let _ = driver.transport.take_sent(trace);
        let can_follow = revision < 2;
        let prefers_tasks = setup & 64 == 64;
        let how = |byte: u8| if prefers_tasks { byte & !2 | 8 } else { byte };
        let requests =
            (0..=usize::from(input.byte() % 3)).map(|which| driver.ask(which, how(input.byte()), can_follow)).collect();
        (driver, Client { is_modern, prefers_tasks, requests, ..Client::default() })
    }

    fn ask(&mut self, which: usize, how: u8, can_follow: bool) -> Request {
        let wants_task = how & 8 != 0;
        let mut options = RequestOptions::new().progress();
        if wants_task {
            options = options.task(TaskMode::Follow);
        }
        let arguments = Json::parse(r#"{"resultType":"task","id":7}"#).expect("it is JSON");
        let params = CallToolParams { name: "echo", arguments: &arguments };
        let (now, mut calls) = (Timestamp::ORIGIN, self.transport.calls());
        let (method, asked) = match how % 4 {
            0 => ("tools/call", calls.request::<CallToolRaw>(&params, &options, now).map(Asked::Text)),
            1 => ("tools/call", calls.request::<CallTool>(&params, &options, now).map(Asked::Typed)),
            2 => {
                let params = Json::parse(if how & 16 == 0 { "{}" } else { "{ }" }).expect("it is JSON");
                ("tools/call", calls.request_raw("tools/call", Some(&params), &options, now).map(Asked::Any))
            }
            _ => ("x/y", calls.request_raw("x/y", None, &RequestOptions::new().progress(), now).map(Asked::Any)),
        };
        self.asked.push(asked.expect("an open engine sends requests"));
        let sent = self.lines();
        let [sent] = &sent[..] else { panic!("one request is one message: {sent:?}") };
        assert_eq!(sent["method"], method);
        if how % 4 < 2 {
            assert_eq!(sent["params"]["name"], "echo");
            assert_eq!(sent["params"]["arguments"], json!({ "resultType": "task", "id": 7 }));
        }
        let id = sent["id"].as_u64().expect("a number");
        assert_eq!(sent["params"]["_meta"]["progressToken"], id, "{MARK}");
        let is_call = method == "tools/call";
        let asks_for_task = sent["params"].get("task").is_some();
        let is_legacy = sent["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_none();
        assert_eq!(asks_for_task, is_call && wants_task && can_follow && is_legacy, "{sent}");
        Request {
            which,
            id,
            method,
            follows_tasks: is_call && wants_task && can_follow,
            is_typed: how % 4 == 1,
            rounds: 0,
        }
    }

    /// Passes a message of the server to the engine, in pieces of `cut` bytes. Returns `false` if the server cannot send it now.
    /// `answers` is the id of the request that the message responds to.
    pub(super) fn receive(&mut self, text: &str, answers: Option<u64>, cut: usize, input: &mut Bytes<'_>) -> bool {
        self.trace.line(format_args!("> receive {text}"));
        let Some(delivery) = self.transport.deliver(text, answers, input) else { return false };
        for piece in delivery.bytes.chunks(cut) {
            self.transport.receive(&delivery, piece);
            self.handle_events();
        }
        self.transport.finish(&delivery);
        self.handle_events();
        true
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.transport.poll_event() {
            self.event(event);
        }
    }

    pub(super) fn take_reports(&mut self) -> Vec<Report> {
        core::mem::take(&mut self.reports)
    }

    pub(super) fn take_answered(&mut self) -> Vec<Question> {
        core::mem::take(&mut self.answered)
    }

    /// Returns what was sent, and tells the reference the ids of requests about tasks, and of those that were sent again.
    pub(super) fn take_sent(&mut self, client: &mut Client) -> Vec<Sent> {
        let mut described = Vec::new();
        for message in self.lines() {
            let id = message["id"].clone();
            if let Some(result) = message.get("result") {
                described.push(Sent::Result { id, to: question_of(result) });
            } else if let Some(code) = message["error"]["code"].as_i64() {
                described.push(Sent::Error { id, code });
            } else if message["method"] == "tools/call" {
                let request = client.requests.iter_mut().find(|request| request.id == u64::MAX);
                let request = request.expect("none is to be sent again");
                request.id = id.as_u64().expect("a number");
                let params = &message["params"];
                let state = params.get("requestState").cloned();
                let inputs = params.get("inputResponses").map(answers).unwrap_or_default();
                described.push(Sent::Again { which: request.which, state, inputs });
            } else {
                described.push(about_task(&message, client));
            }
        }
        described
    }

    /// The interval between two polls passes.
    pub(super) fn pass_time(&mut self) {
        self.now = self.now + Duration::from_secs(1);
        self.trace.line(format_args!("> it is {:?}", self.now));
        self.transport.handle_timeout(self.now);
        self.handle_events();
    }

    /// Takes the sent messages, which must be JSON-RPC.
    fn lines(&mut self) -> Vec<Value> {
        let parse = |line: &String| {
            assert_eq!(content::repeated_key(&without_surrogates(line)), None, "{line}");
            let message = parsed(line);
            assert_eq!(message["jsonrpc"], "2.0");
            message
        };
        self.transport.take_sent(&self.trace).iter().map(parse).collect()
    }

    pub(super) fn trace_state(&mut self) {
        if !self.trace.is_on() {
            return;
        }
        let state = self.transport.state();
        if state != self.state {
            self.trace.line(format_args!("= {state}"));
            self.state = state;
        }
    }

    fn which(&self, key: RequestKey) -> usize {
        self.asked.iter().position(|asked| asked.key() == key).expect("a request of the caller")
    }

    fn event(&mut self, event: Event) {
        self.names.event(&event, &self.trace);
        let report = match event {
            Event::Reply(reply) => self.reply(reply),
            Event::ServerRequest(request) => self.server_request(request),
            Event::ServerRequestCancelled(key) => {
                let at = self.kept.iter().position(|(kept, _)| *kept == key).expect("it has no answer");
                Report::Withdrawn(self.kept.remove(at).1)
            }
            Event::ServerRequestRefused { method } => Report::ServerRequestRefused { method },
            Event::Notification(Notification::Progress { key, .. }) => Report::Progress { which: self.which(key) },
            Event::Notification(Notification::TaskStatus { key: Some(key), .. }) => {
                Report::Task { which: self.which(key) }
            }
            Event::Notification(other) => {
                Report::Notification(value(&Json::from_value(&other).expect("it can be serialized")))
            }
            Event::InvalidMessage { .. } => Report::InvalidMessage,
            Event::UnmatchedError(error) => Report::UnmatchedError { code: error.code },
            other => panic!("{other:?}"),
        };
        self.reports.push(report);
    }

    fn server_request(&mut self, request: ServerRequest) -> Report {
        assert_eq!(request.method, "roots/list");
        let during = request.during.map(|call| self.which(call.key));
        let question = Question { during, params: request.params.as_ref().map(value) };
        self.kept.push((request.key, question.clone()));
        if self.answers_at_once {
            let answered = self.answer(self.kept.len() - 1);
            self.answered.extend(answered);
        }
        Report::ServerRequest(question)
    }

    /// Answers one of the server's requests that the caller has kept, and returns it. Of several that are equal, the first.
    pub(super) fn answer(&mut self, which: usize) -> Option<Question> {
        let question = self.kept[which.checked_rem(self.kept.len())?].1.clone();
        let first = self.kept.iter().position(|(_, kept)| *kept == question);
        self.answer_at(first.expect("it is kept"));
        Some(question)
    }

    /// The answer repeats the parameters of the server's request.
    fn answer_at(&mut self, at: usize) {
        let (key, question) = self.kept.remove(at);
        self.trace.line(format_args!("> answer a{}", self.names.ask(key)));
        let answer = json!({ "roots": [], "_meta": { "to": json!(question.params).to_string() } });
        assert_eq!(self.transport.calls().answer(key, &answer, self.now), Ok(true));
    }

    fn reply(&self, reply: Reply) -> Report {
        let which = self.which(reply.key());
        let decoded = match self.asked[which] {
            Asked::Text(ticket) => ticket.decode(reply).map(|json| value(&json)),
            Asked::Any(ticket) => ticket.decode(reply).map(|json| value(&json)),
            Asked::Typed(ticket) => ticket.decode(reply).map(|result| match result.without_content {
                Some(_) => json!("no content"),
                None => json!({
                    "content": result.content.len(),
                    "isError": result.is_error,
                    "structuredContent": result.structured_content.as_ref().map(value),
                }),
            }),
        };
        let outcome = match decoded {
            Ok(result) => Outcome::Result(result),
            Err(CallError::Server { error, .. }) => Outcome::Error(error.code),
            Err(CallError::ToolNotFound { error: Some(error), .. }) => Outcome::Error(error.code),
            Err(CallError::Invalid { .. }) => Outcome::Invalid,
            Err(CallError::Input { .. }) => Outcome::InputNotOffered,
            Err(CallError::Task { fault, .. }) => Outcome::Task(match fault {
                TaskError::Cancelled { .. } => "cancelled",
                TaskError::Failed { .. } => "failed",
                TaskError::AnswersRefused { .. } => "refused",
                TaskError::Lost { .. } => "lost",
                other => panic!("{other}"),
            }),
            Err(other) => panic!("{other}"),
        };
        Report::Reply { which, outcome }
    }
}

/// Returns the parameters of the question that each answer repeats, by the name of the input.
fn answers(inputs: &Value) -> BTreeMap<String, Value> {
    let inputs = inputs.as_object().expect("an object of answers");
    inputs.iter().map(|(name, answer)| (name.clone(), question_of(answer).expect("an answer of the caller"))).collect()
}

/// Tells the reference the id of the request.
fn about_task(message: &Value, client: &mut Client) -> Sent {
    let (id, params) = (message["id"].as_u64(), &message["params"]);
    let task = params["taskId"].as_str().unwrap_or_else(|| panic!("it is about no task: {message}")).to_owned();
    let found = client.tasks.iter_mut().find(|of| of.id == task);
    match message["method"].as_str() {
        Some("tasks/get") => {
            if let Some(found) = found {
                found.get = id;
            }
            Sent::Get { task }
        }
        Some("tasks/update") => {
            if let Some(found) = found {
                found.update = id;
            }
            Sent::Update { task, inputs: answers(&params["inputResponses"]) }
        }
        Some("tasks/cancel") => Sent::Cancel { task },
        _ => panic!("{message}"),
    }
}

fn question_of(answer: &Value) -> Option<Value> {
    answer.get("_meta").and_then(|meta| meta["to"].as_str()).map(parsed)
}

fn value(json: &Json) -> Value {
    parsed(json.get())
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(&without_surrogates(text)).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The client keeps the text of JSON that it does not read, with lone surrogates, which `serde_json` refuses.
fn without_surrogates(text: &str) -> String {
    text.replace(LONE_SURROGATE_TEXT, "\\ufffd")
}
