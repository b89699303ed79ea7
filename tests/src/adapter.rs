//! What the suite asks of an adapter, in words that blocking and async adapters have in common.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_blocking::http::HttpOptions;
use mcpwire_blocking::protocol::{
    CallToolResult, CompleteParams, CompleteResult, Config, GetPromptResult, InvalidItem, ItemList, Json, LogMessage,
    LoggingLevel, Method, Params, Progress, Prompt, ReadResourceResult, RequestOptions, Resource, ResourceTemplate,
    Root, RpcError, ServerInfo, ServerRequest, SubscribeOptions, SubscriptionEnd, SubscriptionEvent,
    SubscriptionFilter, Task, TaskHandle, Tool,
};
use mcpwire_blocking::{ConnectOptions, Error, ErrorKind, McpServerDef, ShutdownReport};
use mcpwire_client::{GracePeriods, TraceListener};
use mcpwire_driver::Runtime;
use mcpwire_testkit::{PipeReader, PipeWriter};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Lines, Server};

/// A client of one adapter. An async adapter runs its own runtime in here.
pub trait Adapter: Sized {
    /// Starts the server, and no more.
    fn start(server: &Server) -> Result<Self, Failure>;
    /// Starts a server, or goes to one that is reached over HTTP, with these options. Nothing is asked of it yet.
    fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Failure>;
    /// The same, over HTTP.
    fn over_http(def: &McpServerDef, options: OverHttp) -> Result<Self, Failure> {
        Self::connect_with(def, options.into())
    }
    /// Goes to a server that wants a login, with an authorizer that is built on the runtime of the adapter.
    fn connect_authorized(
        def: &McpServerDef,
        authorizer: impl FnOnce(Arc<dyn Runtime>) -> OAuth,
    ) -> Result<Self, Failure>;
    /// Speaks to a server in memory.
    fn over(reader: PipeReader, writer: PipeWriter, options: ConnectOptions) -> Self;
    /// The handshake.
    fn initialize(&mut self) -> Result<ServerInfo, Failure>;
    /// All pages of the list of tools.
    fn list_tools(&mut self) -> Result<Vec<Tool>, Failure>;
    /// The entries of that list that were no tools.
    fn rejected_tools(&self) -> Vec<InvalidItem>;
    /// One call, to its end.
    fn call(&mut self, call: Call) -> Result<CallToolResult, Failure>;
    /// Calls that are under way together: each is sent before any is waited for. How each of them ended. Progress is not
    /// listened to.
    fn call_together(&mut self, calls: Vec<Call>) -> Vec<Result<CallToolResult, Failure>>;
    /// A call that is given up once the server has said the word on standard error. Its failure.
    fn call_and_cancel(&mut self, call: Call, stderr: &Lines, word: &str) -> Failure;
    /// Any method; the result as JSON text.
    fn request_raw(&mut self, method: &str, params: Option<Value>) -> Result<String, Failure>;
    /// Any method of the protocol.
    fn request<M: Method>(&mut self, params: &impl Params<M>, options: &RequestOptions) -> Result<M::Result, Failure>;
    /// Subscribes. What the server agreed to.
    fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: SubscribeOptions,
    ) -> Result<SubscriptionFilter, Failure>;
    /// The next change on the last subscription; `None` when it is over.
    fn next_change(&mut self) -> Option<SubscriptionEvent>;
    /// Why the last subscription is over.
    fn end_of_subscription(&self) -> Option<SubscriptionEnd>;
    /// Gives up the last subscription.
    fn unsubscribe(&mut self);
    /// What a tool answers as a value.
    fn structured<T: DeserializeOwned>(&mut self, tool: &str) -> Result<T, Failure>;
    /// Whether the server is there.
    fn ping(&mut self) -> Result<(), Failure>;
    /// From which level on log messages are wanted.
    fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Failure>;
    /// Replaces the roots, and tells the server of it.
    fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), Failure>;
    /// The resources.
    fn list_resources(&mut self) -> Result<ItemList<Resource>, Failure>;
    /// The templates of resources.
    fn list_resource_templates(&mut self) -> Result<ItemList<ResourceTemplate>, Failure>;
    /// The contents of a resource.
    fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, Failure>;
    /// The prompts.
    fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Failure>;
    /// A prompt, filled in.
    fn get_prompt(&mut self, name: &str, arguments: &Value) -> Result<GetPromptResult, Failure>;
    /// Values for an argument.
    fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Failure>;
    /// What the server said of itself.
    fn server_info(&self) -> Option<ServerInfo>;
    /// How many requests wait for an answer.
    fn in_flight(&self) -> usize;
    /// Whether the server's process lives.
    fn is_running(&mut self) -> bool;
    /// The process id of the server.
    fn pid(&self) -> u32;
    /// The end of what the server wrote on standard error.
    fn stderr_tail(&mut self) -> String;
    /// A call that may become a task: its handle, or its result if the server had that at once.
    fn begin_task(&mut self, call: Call) -> Result<Result<TaskHandle, CallToolResult>, Failure>;
    /// How a task stands.
    fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Failure>;
    /// The result of a task, waited for; how it stood meanwhile goes to the list.
    fn task_result(&mut self, handle: &TaskHandle, statuses: &Statuses) -> Result<CallToolResult, Failure>;
    /// Asks for a task to be ended.
    fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Failure>;
    /// The tasks that the server lists.
    fn list_tasks(&mut self) -> Result<ItemList<Task>, Failure>;
    /// Ends the server, politely if it lets itself be asked. How it ended.
    fn shutdown(self) -> Result<ShutdownReport, Failure>;

    /// A client of this server that is ready.
    ///
    /// # Panics
    ///
    /// When there is none to be had.
    fn open(def: &McpServerDef, options: ConnectOptions) -> Self {
        let mut client = Self::connect_with(def, options).expect("it starts");
        client.initialize().expect("it answers");
        client
    }

    /// The text of a call's result.
    ///
    /// # Panics
    ///
    /// When the call fails.
    fn text(&mut self, tool: &str, arguments: Value) -> String {
        match self.call(Call::new(tool).with(arguments)) {
            Ok(result) => result.text().to_string(),
            Err(failure) => panic!("{tool} fails: {failure}"),
        }
    }

    /// Why a call fails.
    ///
    /// # Panics
    ///
    /// When it does not.
    fn failure(&mut self, tool: &str) -> Failure {
        match self.call(Call::new(tool)) {
            Ok(result) => panic!("{tool} answers: {result:?}"),
            Err(failure) => failure,
        }
    }

    /// Fails unless the server still answers.
    ///
    /// # Panics
    ///
    /// When it does not.
    fn assert_alive(&mut self) {
        assert_eq!(self.text("echo", json!({"message": "still here"})), "still here");
    }
}

/// The methods that both clients have under the same names. `$run` waits for what they give.
macro_rules! shared_methods {
    ($run:ident) => {
        fn start(server: &Server) -> Result<Self, Failure> {
            Self::connect_with(&server.def, server.options())
        }

        fn initialize(&mut self) -> Result<ServerInfo, Failure> {
            Ok($run!(self, self.client.initialize())?.clone())
        }

        fn list_tools(&mut self) -> Result<Vec<Tool>, Failure> {
            Ok($run!(self, self.client.list_tools())?.to_vec())
        }

        fn request_raw(&mut self, method: &str, params: Option<Value>) -> Result<String, Failure> {
            let params = params.map(|params| Json::from_value(&params).expect("it is JSON"));
            Ok($run!(self, self.client.request_raw(method, params.as_ref()))?.get().to_owned())
        }

        fn request<M: Method>(
            &mut self,
            params: &impl Params<M>,
            options: &RequestOptions,
        ) -> Result<M::Result, Failure> {
            Ok($run!(self, self.client.request::<M>(params, options))?)
        }

        fn subscribe(
            &mut self,
            wanted: &SubscriptionFilter,
            options: SubscribeOptions,
        ) -> Result<SubscriptionFilter, Failure> {
            let subscription = $run!(self, self.client.subscribe_with(wanted, options))?;
            let acknowledged = subscription.acknowledged().clone();
            self.subscription = Some(subscription);
            Ok(acknowledged)
        }

        fn end_of_subscription(&self) -> Option<SubscriptionEnd> {
            self.subscription.as_ref().expect("there is one").end().cloned()
        }

        fn structured<T: DeserializeOwned>(&mut self, tool: &str) -> Result<T, Failure> {
            Ok($run!(self, self.client.call_tool(tool, ()).structured::<T>())?)
        }

        fn ping(&mut self) -> Result<(), Failure> {
            Ok($run!(self, self.client.ping())?)
        }

        fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Failure> {
            Ok($run!(self, self.client.set_log_level(level))?)
        }

        fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), Failure> {
            Ok(self.client.set_roots(roots)?)
        }

        fn list_resources(&mut self) -> Result<ItemList<Resource>, Failure> {
            Ok($run!(self, self.client.list_resources())?)
        }

        fn list_resource_templates(&mut self) -> Result<ItemList<ResourceTemplate>, Failure> {
            Ok($run!(self, self.client.list_resource_templates())?)
        }

        fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, Failure> {
            Ok($run!(self, self.client.read_resource(uri))?)
        }

        fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Failure> {
            Ok($run!(self, self.client.list_prompts())?)
        }

        fn get_prompt(&mut self, name: &str, arguments: &Value) -> Result<GetPromptResult, Failure> {
            Ok($run!(self, self.client.get_prompt(name, arguments))?)
        }

        fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Failure> {
            Ok($run!(self, self.client.complete(params))?)
        }

        fn server_info(&self) -> Option<ServerInfo> {
            self.client.server_info().cloned()
        }

        fn in_flight(&self) -> usize {
            self.client.in_flight()
        }

        fn is_running(&mut self) -> bool {
            self.client.is_running()
        }

        fn pid(&self) -> u32 {
            self.client.pid().expect("there is a process")
        }

        fn stderr_tail(&mut self) -> String {
            self.client.stderr_tail()
        }

        fn begin_task(&mut self, call: Call) -> Result<Result<TaskHandle, CallToolResult>, Failure> {
            let request = self.client.call_tool(&call.tool, &call.arguments).task_ttl(Duration::from_secs(60));
            Ok($run!(self, request.as_task())?.into_task().map(|task| task.into_handle()))
        }

        fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Failure> {
            let mut task = self.client.task(handle.clone());
            Ok($run!(self, task.status())?)
        }

        fn task_result(&mut self, handle: &TaskHandle, statuses: &Statuses) -> Result<CallToolResult, Failure> {
            let mut task = self.client.task(handle.clone());
            let list = |task: &Task| statuses.lock().unwrap().push(task.status.to_string());
            Ok($run!(self, task.wait_with(list))?)
        }

        fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Failure> {
            let mut task = self.client.task(handle.clone());
            Ok($run!(self, task.cancel())?)
        }

        fn list_tasks(&mut self) -> Result<ItemList<Task>, Failure> {
            Ok($run!(self, self.client.list_tasks())?)
        }

        fn shutdown(self) -> Result<ShutdownReport, Failure> {
            Ok($run!(self, self.client.shutdown())?)
        }
    };
}

pub(crate) use shared_methods;

/// Options of a connection by HTTP, whatever the adapter.
#[derive(Default)]
pub struct OverHttp {
    /// Who the client is, and its limits.
    pub config: Config,
    /// How long the end may take.
    pub grace_periods: GracePeriods,
    /// Who watches the messages.
    pub trace: Option<TraceListener>,
    /// Who makes the requests, and with which token.
    pub http: HttpOptions,
}

impl From<OverHttp> for ConnectOptions {
    fn from(options: OverHttp) -> Self {
        let OverHttp { config, grace_periods, trace, http } = options;
        let options = ConnectOptions::new(config).grace_periods(grace_periods).http(http);
        match trace {
            Some(trace) => options.trace(trace),
            None => options,
        }
    }
}

/// How a task stood, in the words of the protocol.
pub type Statuses = Arc<Mutex<Vec<String>>>;

/// One call of a tool.
#[derive(Clone)]
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// How long the server may say nothing about the call.
    pub timeout: Option<Duration>,
    /// How long the call may take, whatever the server says about it.
    pub total_timeout: Option<Duration>,
    /// Where progress goes, for those who want it.
    pub progress: Option<Arc<Mutex<Vec<Progress>>>>,
    /// Where it goes how the task stands that the call becomes, for those who want it to become one.
    pub statuses: Option<Statuses>,
    /// Whether it is given up as soon as it is sent, together with others.
    pub given_up: bool,
}

impl Call {
    /// A call with no arguments and the timeouts of the configuration.
    pub fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: json!({}),
            timeout: None,
            total_timeout: None,
            progress: None,
            statuses: None,
            given_up: false,
        }
    }

    /// With these arguments.
    #[must_use]
    pub fn with(mut self, arguments: Value) -> Self {
        self.arguments = arguments;
        self
    }

    /// With another idle timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// With another total timeout.
    #[must_use]
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// With progress, which goes to the list.
    #[must_use]
    pub fn progress(mut self, list: &Arc<Mutex<Vec<Progress>>>) -> Self {
        self.progress = Some(Arc::clone(list));
        self
    }

    /// As a task, if the server takes it for one; how that stands goes to the list.
    #[must_use]
    pub fn follow_task(mut self, list: &Statuses) -> Self {
        self.statuses = Some(Arc::clone(list));
        self
    }

    /// To be given up once all are sent that it is sent together with.
    #[must_use]
    pub fn given_up(mut self) -> Self {
        self.given_up = true;
        self
    }
}

/// What a client hears beside the answers to its requests.
#[derive(Clone, Default)]
pub struct Heard {
    /// Standard error, line by line.
    pub stderr: Lines,
    /// Log messages.
    pub logs: Arc<Mutex<Vec<LogMessage>>>,
    /// What the server asked for.
    pub asked: Arc<Mutex<Vec<String>>>,
    /// What it is answered: to the methods that the configuration names.
    pub answer: Option<Answering>,
}

/// How questions of a server's are answered.
pub type Answering = fn(&ServerRequest) -> Result<Json, RpcError>;

impl Heard {
    /// Answers what the server asks for, as far as anybody knows an answer.
    ///
    /// # Errors
    ///
    /// When there is none, or it is a refusal.
    ///
    /// # Panics
    ///
    /// When an answer has panicked before.
    pub fn reply(&self, ask: &ServerRequest) -> Result<Json, RpcError> {
        self.asked.lock().unwrap().push(ask.method.clone());
        match self.answer {
            Some(answer) => answer(ask),
            None => Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "nobody answers")),
        }
    }
}

/// An error of any adapter.
#[derive(Debug)]
pub struct Failure {
    /// What it is about.
    pub kind: ErrorKind,
    /// Whether it happened before the client was ready.
    pub connecting: bool,
    /// What it says.
    pub text: String,
    /// The error itself; `None` if the caller has given up.
    pub error: Option<Error>,
}

impl Failure {
    /// What a caller knows of a call that it has given up itself.
    pub(crate) fn given_up() -> Self {
        let text = "`tools/call` was cancelled: its caller has given it up".into();
        Self { kind: ErrorKind::Cancelled, connecting: false, text, error: None }
    }

    /// Fails unless it is of the kind and says all these things.
    ///
    /// # Panics
    ///
    /// When it is or does not.
    pub fn assert(&self, kind: ErrorKind, words: &[&str]) {
        assert_eq!(self.kind, kind, "{self}");
        self.assert_says(words);
    }

    /// Fails unless it says all these things.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn assert_says(&self, words: &[&str]) {
        for word in words {
            assert!(self.text.contains(word), "the message does not say {word:?}: {self}");
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
