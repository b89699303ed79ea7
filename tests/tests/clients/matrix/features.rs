//! What a program does with each feature, and how it can be seen that it works, or how it does not.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpwire_driver::protocol::internal::{Discover, Subscribe, SubscribeParams};
use mcpwire_driver::protocol::{
    CallError, CallTool, CallToolParams, CallToolResult, CancelTask, CompleteParams, CompletionReference,
    CreateMessageResult, ElicitAction, ElicitResult, Era, GetTask, Json, LogMessage, LoggingLevel, Method,
    Notification, Params, Ping, ProtocolVersion, RequestOptions, Root, SendError, SetLevel, SetLevelParams,
    SubscribeOptions, SubscriptionEvent, SubscriptionFilter, TaskHandle, TaskParams, TaskProtocol, Tool, TraceContext,
    UpdateTask, UpdateTaskParams,
};
use mcpwire_driver::{ConnectOptions, ErrorKind};
use mcpwire_testkit::{RecordedMessage, ScriptedServer, duplex};
use mcpwire_tests::{Adapter, Call, Failure, Statuses, done_of_total};
use serde_json::{Value, json};

use super::server::URI;

/// What the model says, the name that the person enters, and the root, of every client here.
const MODEL: &str = "4";
const NAME: &str = "Ada";
const ROOT: &str = "file:///home";

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
pub(crate) struct On<A> {
    client: A,
    server: ScriptedServer,
    version: ProtocolVersion,
    /// What the server has logged.
    logs: Arc<Mutex<Vec<LogMessage>>>,
}

/// The error is an outcome as well, so that a request that is not sent may end a test with `?`.
pub(crate) type Tried = Result<Outcome, Outcome>;

impl<A: Adapter> On<A> {
    pub(crate) fn new(server: ScriptedServer, version: ProtocolVersion) -> Self {
        let logs = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&logs);
        let options = ConnectOptions::default()
            .on_elicitation(async |_, _| Ok(ElicitResult::accept(&json!({"name": NAME})).expect("it is JSON")))
            .on_url_elicitation(async |_, _| Ok(ElicitAction::Accept))
            .on_sampling(async |_, _| Ok(CreateMessageResult::text("model", MODEL)))
            .roots([Root::new(ROOT)])
            .on_notification(move |notification| {
                if let Notification::Log(message) = notification {
                    heard.lock().unwrap().push(message.clone());
                }
            });
        // The server has a thread of its own, which ends when the client has gone.
        let (ours, theirs) = duplex(64 * 1024);
        let serving = server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer);
        thread::spawn(|| smol::block_on(serving));
        let mut client = A::over(ours.reader, ours.writer, options);
        assert_eq!(client.initialize().expect("it opens").protocol_version, version);
        // All that the handshake has to say has come by the time that this is answered.
        client.ping().expect("the connection is open");
        server.take_recorded();
        On { client, server, version, logs }
    }

    fn is_modern(&self) -> bool {
        self.version.era() == Era::Modern
    }

    /// Does something that works, or is not sent.
    #[track_caller]
    fn attempt<T: Debug>(&mut self, act: impl FnOnce(&mut A) -> Result<T, Failure>) -> Result<T, Outcome> {
        let before = self.server.recorded().len();
        match act(&mut self.client) {
            Ok(value) => Ok(value),
            Err(failure) => {
                let error = failure.error.expect("it is the client's");
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
        let tools = self.attempt(Adapter::list_tools)?;
        Ok(tools.into_iter().find(|tool| tool.name == name).expect("it is listed"))
    }

    /// What the server gets in answer to a question of its own.
    fn answer_to(&mut self, tool: &str) -> Result<Value, Outcome> {
        let result = self.attempt(|client| client.call(Call::new(tool)))?;
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

// Tools and their calls.

pub(crate) fn tools_in_pages<A: Adapter>(on: &mut On<A>) -> Tried {
    let tools = on.attempt(Adapter::list_tools)?;
    assert_eq!((tools.len(), on.count("tools/list")), (10, 5));
    Ok(Works)
}

pub(crate) fn calls_of_tools<A: Adapter>(on: &mut On<A>) -> Tried {
    let result = on.attempt(|client| client.call(Call::new("echo").with(json!({"message": "hello"}))))?;
    assert_eq!(text(&result), "hello");
    Ok(Works)
}

pub(crate) fn progress<A: Adapter>(on: &mut On<A>) -> Tried {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let result = on.attempt(|client| client.call(Call::new("steps").progress(&seen)))?;
    assert_eq!(text(&result), "stepped");
    assert_eq!(
        seen.lock().unwrap().iter().map(done_of_total).collect::<Vec<_>>(),
        [(1.0, Some(2.0)), (2.0, Some(2.0))]
    );
    Ok(Works)
}

pub(crate) fn structured_content<A: Adapter>(on: &mut On<A>) -> Tried {
    let result = on.attempt(|client| client.call(Call::new("measure")))?;
    assert_eq!(text(&result), r#"{"n":21}"#);
    match on.client.structured::<Value>("measure") {
        Ok(value) => assert_eq!(value, json!({"n": 21})),
        Err(failure) => {
            let error = failure.error.expect("it is the client's");
            assert!(matches!(error.call_error(), Some(CallError::Structured { .. })), "{error}");
            assert!(error.to_string().contains(r#"{"n":21}"#), "it says what there is: {error}");
            return Ok(Without);
        }
    }
    Ok(Works)
}

pub(crate) fn annotations<A: Adapter>(on: &mut On<A>) -> Tried {
    let annotations = on.tool("measure")?.annotations;
    Ok(works_if(annotations.is_some_and(|annotations| annotations.read_only_hint == Some(true))))
}

pub(crate) fn titles<A: Adapter>(on: &mut On<A>) -> Tried {
    let tool = on.tool("measure")?;
    let has = tool.title.as_deref() == Some("Titled");
    let annotated = on.version >= ProtocolVersion::V2025_03_26;
    assert_eq!(
        tool.display_name(),
        if has {
            "Titled"
        } else if annotated {
            "Annotated"
        } else {
            "measure"
        }
    );
    Ok(works_if(has))
}

pub(crate) fn output_schemas<A: Adapter>(on: &mut On<A>) -> Tried {
    Ok(works_if(on.tool("measure")?.output_schema.is_some_and(|schema| schema.get().contains("integer"))))
}

pub(crate) fn icons<A: Adapter>(on: &mut On<A>) -> Tried {
    Ok(works_if(on.tool("measure")?.icons.iter().any(|icon| icon.src == "https://a.example/i.png")))
}

// What servers have beside tools.

pub(crate) fn resources<A: Adapter>(on: &mut On<A>) -> Tried {
    let listed = on.attempt(Adapter::list_resources)?;
    assert_eq!(listed.items[0].uri, URI);
    Ok(Works)
}

pub(crate) fn templates<A: Adapter>(on: &mut On<A>) -> Tried {
    let listed = on.attempt(Adapter::list_resource_templates)?;
    assert_eq!(listed.items[0].uri_template, "file:///{p}");
    Ok(Works)
}

pub(crate) fn reading<A: Adapter>(on: &mut On<A>) -> Tried {
    let read = on.attempt(|client| client.read_resource(URI))?;
    assert_eq!(read.contents.items[0].text.as_deref(), Some("what it says"));
    Ok(Works)
}

pub(crate) fn updates_of_a_resource<A: Adapter>(on: &mut On<A>) -> Tried {
    let wanted = SubscriptionFilter::new().resource(URI);
    let event = heard(on, &wanted, "notifications/resources/updated", &json!({"uri": URI}))?;
    assert_eq!(event, SubscriptionEvent::ResourceUpdated { uri: URI.into() });
    assert_eq!(on.count("subscriptions/listen"), usize::from(on.is_modern()));
    assert_eq!(on.count("resources/subscribe"), usize::from(!on.is_modern()));
    Ok(Works)
}

pub(crate) fn changes_of_a_list<A: Adapter>(on: &mut On<A>) -> Tried {
    let wanted = SubscriptionFilter::new().tools();
    let event = heard(on, &wanted, "notifications/tools/list_changed", &json!({}))?;
    assert_eq!(event, SubscriptionEvent::ToolsChanged);
    Ok(Works)
}

/// Subscribes, and hears what the server tells after.
fn heard<A: Adapter>(
    on: &mut On<A>,
    wanted: &SubscriptionFilter,
    what: &'static str,
    params: &Value,
) -> Result<SubscriptionEvent, Outcome> {
    let agreed = on.attempt(|client| client.subscribe(wanted, SubscribeOptions::new()))?;
    assert_eq!(agreed, *wanted);
    let mut params = params.clone();
    if on.is_modern() {
        let listen = on.server.requests().into_iter().rfind(|request| request.method == "subscriptions/listen");
        let id = listen.and_then(|listen| listen.id).expect("it was asked");
        params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    }
    on.server.notify(what, &params);
    let event = on.client.next_change().expect("it is open");
    on.client.unsubscribe();
    Ok(event)
}

pub(crate) fn resources_subscribe<A: Adapter>(on: &mut On<A>) -> Tried {
    on.request::<Subscribe>(&SubscribeParams { uri: URI })
}

pub(crate) fn prompts<A: Adapter>(on: &mut On<A>) -> Tried {
    let listed = on.attempt(Adapter::list_prompts)?;
    assert_eq!(listed.items[0].name, "greet");
    Ok(Works)
}

pub(crate) fn a_prompt<A: Adapter>(on: &mut On<A>) -> Tried {
    let prompt = on.attempt(|client| client.get_prompt("greet", &json!({"name": "Ann"})))?;
    assert_eq!(prompt.messages.items[0].content.as_text(), Some("Greet Ann."));
    Ok(Works)
}

pub(crate) fn completion<A: Adapter>(on: &mut On<A>) -> Tried {
    let result = on.attempt(|client| client.complete(&framework()))?;
    assert_eq!(result.completion.values, ["flask", "flutter"]);
    Ok(Works)
}

pub(crate) fn completion_with_context<A: Adapter>(on: &mut On<A>) -> Tried {
    let mut params = framework();
    params.context = &[("language", "python")];
    let result = on.attempt(|client| client.complete(&params))?;
    let sent = on.server.requests().pop().expect("it was asked");
    let has = sent.param::<Value>("context").is_some();
    assert_eq!(result.completion.values.len(), if has { 1 } else { 2 });
    Ok(works_if(has))
}

fn framework() -> CompleteParams<'static> {
    CompleteParams::new(CompletionReference::Prompt { name: "greet" }, "framework", "fl")
}

pub(crate) fn log_level<A: Adapter>(on: &mut On<A>) -> Tried {
    on.attempt(|client| client.set_log_level(&LoggingLevel::Warning))?;
    on.attempt(|client| client.call(Call::new("log")))?;
    while on.logs.lock().unwrap().is_empty() {
        on.client.ping().expect("the connection is open");
    }
    assert_eq!(on.logs.lock().unwrap().iter().map(LogMessage::text).collect::<Vec<_>>(), ["hot"]);
    let requests = on.server.requests();
    let level: Option<Value> = if on.is_modern() {
        requests[0].param::<Json>("_meta").and_then(|meta| meta.member("io.modelcontextprotocol/logLevel"))
    } else {
        requests[0].param("level")
    };
    assert_eq!(level, Some(json!("warning")));
    assert_eq!(on.count("logging/setLevel"), usize::from(!on.is_modern()));
    Ok(Works)
}

pub(crate) fn logging_set_level<A: Adapter>(on: &mut On<A>) -> Tried {
    on.request::<SetLevel>(&SetLevelParams { level: &LoggingLevel::Error })
}

// What holds of requests of any kind, and those that have to do with no feature.

pub(crate) fn ping<A: Adapter>(on: &mut On<A>) -> Tried {
    on.attempt(Adapter::ping)?;
    assert_eq!(on.server.requests().len(), 1);
    Ok(Works)
}

pub(crate) fn the_method_ping<A: Adapter>(on: &mut On<A>) -> Tried {
    on.request::<Ping>(&())
}

pub(crate) fn server_discover<A: Adapter>(on: &mut On<A>) -> Tried {
    on.request::<Discover>(&())
}

pub(crate) fn lists_that_hold<A: Adapter>(on: &mut On<A>) -> Tried {
    let first = on.attempt(Adapter::list_resources)?;
    let second = on.attempt(Adapter::list_resources)?;
    assert_eq!(first, second);
    Ok(works_if(on.count("resources/list") == 1))
}

pub(crate) fn cancellation<A: Adapter>(on: &mut On<A>) -> Tried {
    let silent = Call::new("silent").timeout(Duration::from_millis(20));
    on.client.call(silent).expect_err("it is silent").assert(ErrorKind::Timeout, &[]);
    let call = on.sent(|message| message.method == "tools/call");
    let cancelled = on.sent(|message| message.method == "notifications/cancelled");
    assert_eq!(cancelled.param("requestId"), call.id);
    let result = on.attempt(|client| client.call(Call::new("echo").with(json!({"message": "it goes on"}))))?;
    assert_eq!(text(&result), "it goes on");
    Ok(Works)
}

pub(crate) fn trace_context<A: Adapter>(on: &mut On<A>) -> Tried {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let trace = TraceContext::new(PARENT).and_then(|trace| trace.state("a=1")).expect("it is one");
    let params = CallToolParams { name: "echo", arguments: &json!({"message": "traced"}) };
    let options = RequestOptions::new().trace_context(&trace);
    let result = on.attempt(|client| client.request::<CallTool>(&params, &options))?;
    assert_eq!(text(&result), "traced");
    let call = on.server.requests().into_iter().find(|request| request.method == "tools/call").expect("it was sent");
    let meta: Value = call.param("_meta").expect("it is there");
    assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(PARENT), &json!("a=1")));
    Ok(Works)
}

// What servers ask of clients.

pub(crate) fn elicitation_by_form<A: Adapter>(on: &mut On<A>) -> Tried {
    assert_eq!(on.answer_to("form")?, json!({"action": "accept", "content": {"name": NAME}}));
    Ok(Works)
}

pub(crate) fn elicitation_by_url<A: Adapter>(on: &mut On<A>) -> Tried {
    assert_eq!(on.answer_to("visit")?, json!({"action": "accept"}));
    Ok(Works)
}

pub(crate) fn sampling<A: Adapter>(on: &mut On<A>) -> Tried {
    let answer = on.answer_to("sample")?;
    assert_eq!((&answer["role"], &answer["content"]["text"]), (&json!("assistant"), &json!(MODEL)));
    Ok(Works)
}

pub(crate) fn roots<A: Adapter>(on: &mut On<A>) -> Tried {
    assert_eq!(on.answer_to("roots")?, json!({"roots": [{"uri": ROOT}]}));
    Ok(Works)
}

pub(crate) fn changes_of_the_roots<A: Adapter>(on: &mut On<A>) -> Tried {
    const CHANGED: &str = "notifications/roots/list_changed";
    on.attempt(|client| client.set_roots(vec![Root::new("file:///other")]))?;
    // In both eras, who asks is told the new ones.
    assert_eq!(on.answer_to("roots")?, json!({"roots": [{"uri": "file:///other"}]}));
    Ok(works_if(on.server.notifications().iter().any(|told| told.method == CHANGED)))
}

pub(crate) fn rounds<A: Adapter>(on: &mut On<A>) -> Tried {
    let result = on.attempt(|client| client.call(Call::new("roots")))?;
    let calls: Vec<_> = on.server.requests().into_iter().filter(|request| request.method == "tools/call").collect();
    let [first, second] = &calls[..] else {
        assert_eq!(calls.len(), 1);
        return Ok(Without);
    };
    assert!(first.id != second.id && first.param::<Value>("arguments") == second.param("arguments"));
    assert_eq!(second.param::<String>("requestState").as_deref(), Some("state 1"));
    assert_eq!(result.meta.expect("it is there").member::<String>("state").as_deref(), Some("state 1"));
    Ok(Works)
}

// Tasks.

pub(crate) fn calls_that_become_tasks<A: Adapter>(on: &mut On<A>) -> Tried {
    let result = on.attempt(|client| client.call(Call::new("job").follow_task(&Statuses::default())))?;
    let became = on.count("tasks/get") > 0;
    assert_eq!(text(&result), if became { "the job is done" } else { "at once" });
    Ok(works_if(became))
}

pub(crate) fn tasks_by_their_handle<A: Adapter>(on: &mut On<A>) -> Tried {
    match on.attempt(|client| client.begin_task(Call::new("job")))? {
        Ok(task) => {
            assert_eq!((task.task_id.as_str(), task.form), ("t1", handle(on).form));
            let result = on.attempt(|client| client.task_result(&task, &Statuses::default()))?;
            assert_eq!(text(&result), "the job is done");
            Ok(Works)
        }
        Err(result) => {
            assert_eq!(text(&result), "at once");
            Ok(Without)
        }
    }
}

pub(crate) fn tasks_taken_up<A: Adapter>(on: &mut On<A>) -> Tried {
    let handle = handle(on);
    let result = on.attempt(|client| client.task_result(&handle, &Statuses::default()))?;
    assert_eq!(text(&result), "the job is done");
    Ok(Works)
}

pub(crate) fn get_task<A: Adapter>(on: &mut On<A>) -> Tried {
    let handle = handle(on);
    assert_eq!(on.attempt(|client| client.task_status(&handle))?.task_id, "t1");
    on.request::<GetTask>(&TaskParams { task_id: "t1" })
}

pub(crate) fn cancel_task<A: Adapter>(on: &mut On<A>) -> Tried {
    let handle = handle(on);
    on.attempt(|client| client.cancel_task(&handle))?;
    on.request::<CancelTask>(&TaskParams { task_id: "t1" })
}

pub(crate) fn list_tasks<A: Adapter>(on: &mut On<A>) -> Tried {
    let listed = on.attempt(Adapter::list_tasks)?;
    assert_eq!(listed.items[0].task_id, "t1");
    Ok(Works)
}

pub(crate) fn update_task<A: Adapter>(on: &mut On<A>) -> Tried {
    let input_responses = Json::parse("{}").expect("it is JSON");
    on.request::<UpdateTask>(&UpdateTaskParams { task_id: "t1", input_responses: &input_responses })
}

/// A handle of the one task that the server has, whether it has it or not.
fn handle<A>(on: &On<A>) -> TaskHandle {
    let modern = on.version.era() == Era::Modern;
    TaskHandle::new("t1", if modern { TaskProtocol::Extension } else { TaskProtocol::Experimental })
}
