//! One face for the clients of both adapters, without `await`: what a program says to either.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcpwire_driver::protocol::{
    CallToolResult, CompleteParams, CompleteResult, CreateMessageResult, ElicitAction, ElicitResult, GetPromptResult,
    ItemList, LogMessage, LoggingLevel, Method, Notification, Params, Progress, Prompt, ProtocolVersion,
    ReadResourceResult, RequestOptions, Resource, ResourceTemplate, Root, SubscriptionEvent, SubscriptionFilter, Task,
    TaskHandle, Tool,
};
use mcpwire_driver::{ConnectOptions, Error};
use mcpwire_testkit::{PipeReader, PipeWriter, ScriptedServer, duplex};
use mcpwire_tests::asynchronous::Host;
use serde_json::{Value, json};

pub(crate) type Logs = Arc<Mutex<Vec<LogMessage>>>;

/// What the model says, the name that the person enters, and the root, of every client here.
pub(crate) const MODEL: &str = "4";
pub(crate) const NAME: &str = "Ada";
pub(crate) const ROOT: &str = "file:///home";

pub(crate) trait Client: Sized {
    /// A client that is connected to this server, and answers whatever servers may ask.
    fn open(server: &ScriptedServer) -> Self;
    fn version(&self) -> ProtocolVersion;
    fn tools(&mut self) -> Result<Vec<Tool>, Error>;
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<CallToolResult, Error>;
    fn call_within(&mut self, tool: &str, time: Duration) -> Result<CallToolResult, Error>;
    fn call_for_progress(&mut self, tool: &str, seen: &mut Vec<Progress>) -> Result<CallToolResult, Error>;
    fn structured(&mut self, tool: &str) -> Result<Value, Error>;
    fn resources(&mut self) -> Result<ItemList<Resource>, Error>;
    fn templates(&mut self) -> Result<ItemList<ResourceTemplate>, Error>;
    fn read(&mut self, uri: &str) -> Result<ReadResourceResult, Error>;
    fn prompts(&mut self) -> Result<ItemList<Prompt>, Error>;
    fn prompt(&mut self, name: &str, arguments: &Value) -> Result<GetPromptResult, Error>;
    fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error>;
    fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Error>;
    /// What the server has logged.
    fn logs(&mut self) -> Vec<LogMessage>;
    fn ping(&mut self) -> Result<(), Error>;
    fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), Error>;
    fn request<M: Method>(&mut self, params: &impl Params<M>, options: &RequestOptions) -> Result<M::Result, Error>;
    /// Subscribes, lets `tell` make the server tell of something, and gives what was agreed to and what was heard.
    fn heard_after(
        &mut self,
        wanted: &SubscriptionFilter,
        tell: &dyn Fn(),
    ) -> Result<(SubscriptionFilter, SubscriptionEvent), Error>;
    fn follow_task(&mut self, tool: &str) -> Result<CallToolResult, Error>;
    /// The handle of the task that a call has become; or its result.
    fn as_task(&mut self, tool: &str) -> Result<Result<TaskHandle, CallToolResult>, Error>;
    fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Error>;
    fn task_result(&mut self, handle: &TaskHandle) -> Result<CallToolResult, Error>;
    fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Error>;
    fn list_tasks(&mut self) -> Result<ItemList<Task>, Error>;
}

/// A client of `mcpwire-blocking`.
pub(crate) struct Blocking {
    client: mcpwire_blocking::McpClient,
    logs: Logs,
}

/// A client of `mcpwire-driver`, and its runtime.
pub(crate) struct Driven<H: Host> {
    client: mcpwire_driver::McpClient<H::Runtime>,
    notifications: mcpwire_driver::Notifications,
    logs: Vec<LogMessage>,
    host: H,
}

/// Lets the server serve on a thread of its own, which ends when the client has gone.
fn serve(server: &ScriptedServer) -> (PipeReader, PipeWriter) {
    let (ours, theirs) = duplex(64 * 1024);
    let serving = server.serve::<mcpwire_smol::Smol>(theirs.reader, theirs.writer);
    thread::spawn(|| smol::block_on(serving));
    (ours.reader, ours.writer)
}

fn accepts() -> ElicitResult {
    ElicitResult::accept(&json!({"name": NAME})).expect("it is JSON")
}

fn says() -> CreateMessageResult {
    CreateMessageResult::text("model", MODEL)
}

/// The calls that both clients have under the same names; `$run` makes a value of what they give.
macro_rules! the_same_words {
    ($run:ident) => {
        fn version(&self) -> ProtocolVersion {
            self.client.protocol_version().expect("it is connected")
        }

        fn tools(&mut self) -> Result<Vec<Tool>, Error> {
            Ok($run!(self, self.client.list_tools())?.to_vec())
        }

        fn call(&mut self, tool: &str, arguments: &Value) -> Result<CallToolResult, Error> {
            $run!(self, self.client.call_tool(tool, arguments).send())
        }

        fn call_within(&mut self, tool: &str, time: Duration) -> Result<CallToolResult, Error> {
            $run!(self, self.client.call_tool(tool, ()).timeout(time).send())
        }

        fn call_for_progress(&mut self, tool: &str, seen: &mut Vec<Progress>) -> Result<CallToolResult, Error> {
            $run!(self, self.client.call_tool(tool, ()).on_progress(|progress| seen.push(progress.clone())).send())
        }

        fn structured(&mut self, tool: &str) -> Result<Value, Error> {
            $run!(self, self.client.call_tool(tool, ()).structured::<Value>())
        }

        fn resources(&mut self) -> Result<ItemList<Resource>, Error> {
            $run!(self, self.client.list_resources())
        }

        fn templates(&mut self) -> Result<ItemList<ResourceTemplate>, Error> {
            $run!(self, self.client.list_resource_templates())
        }

        fn read(&mut self, uri: &str) -> Result<ReadResourceResult, Error> {
            $run!(self, self.client.read_resource(uri))
        }

        fn prompts(&mut self) -> Result<ItemList<Prompt>, Error> {
            $run!(self, self.client.list_prompts())
        }

        fn prompt(&mut self, name: &str, arguments: &Value) -> Result<GetPromptResult, Error> {
            $run!(self, self.client.get_prompt(name, arguments))
        }

        fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Error> {
            $run!(self, self.client.complete(params))
        }

        fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Error> {
            $run!(self, self.client.set_log_level(level))
        }

        fn ping(&mut self) -> Result<(), Error> {
            $run!(self, self.client.ping())
        }

        fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), Error> {
            self.client.set_roots(roots)
        }

        fn request<M: Method>(
            &mut self,
            params: &impl Params<M>,
            options: &RequestOptions,
        ) -> Result<M::Result, Error> {
            $run!(self, self.client.request::<M>(params, options))
        }

        fn follow_task(&mut self, tool: &str) -> Result<CallToolResult, Error> {
            $run!(self, self.client.call_tool(tool, ()).follow_task().send())
        }

        fn as_task(&mut self, tool: &str) -> Result<Result<TaskHandle, CallToolResult>, Error> {
            let started = $run!(self, self.client.call_tool(tool, ()).as_task())?;
            Ok(started.into_task().map(|task| task.into_handle()))
        }

        fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Error> {
            $run!(self, self.client.task(handle.clone()).status())
        }

        fn task_result(&mut self, handle: &TaskHandle) -> Result<CallToolResult, Error> {
            $run!(self, self.client.task(handle.clone()).wait())
        }

        fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Error> {
            $run!(self, self.client.task(handle.clone()).cancel())
        }

        fn list_tasks(&mut self) -> Result<ItemList<Task>, Error> {
            $run!(self, self.client.list_tasks())
        }
    };
}

macro_rules! at_once {
    ($self:ident, $value:expr) => {
        $value
    };
}

macro_rules! on_the_runtime {
    ($self:ident, $future:expr) => {
        $self.host.block_on(async { $future.await })
    };
}

/// The options of all clients.
fn options() -> ConnectOptions {
    ConnectOptions::default()
        .on_elicitation(async |_, _| Ok(accepts()))
        .on_url_elicitation(async |_, _| Ok(ElicitAction::Accept))
        .on_sampling(async |_, _| Ok(says()))
        .roots([Root::new(ROOT)])
}

impl Client for Blocking {
    the_same_words!(at_once);

    fn open(server: &ScriptedServer) -> Self {
        let (reader, writer) = serve(server);
        let logs = Logs::default();
        let heard = Arc::clone(&logs);
        let options = options().on_notification(move |notification| {
            if let Notification::Log(message) = notification {
                heard.lock().expect("nobody fails").push(message.clone());
            }
        });
        let (reader, writer) = (smol::io::BlockOn::new(reader), smol::io::BlockOn::new(writer));
        let mut client = mcpwire_blocking::McpClient::over(reader, writer, options).expect("there are threads");
        client.initialize().expect("it opens");
        Blocking { client, logs }
    }

    fn logs(&mut self) -> Vec<LogMessage> {
        self.logs.lock().expect("nobody fails").clone()
    }

    fn heard_after(
        &mut self,
        wanted: &SubscriptionFilter,
        tell: &dyn Fn(),
    ) -> Result<(SubscriptionFilter, SubscriptionEvent), Error> {
        let mut subscription = self.client.subscribe(wanted)?;
        let agreed = subscription.acknowledged().clone();
        tell();
        let event = subscription.next(&mut self.client)?.expect("it is open");
        subscription.close(&mut self.client);
        Ok((agreed, event))
    }
}

impl<H: Host> Client for Driven<H> {
    the_same_words!(on_the_runtime);

    fn open(server: &ScriptedServer) -> Self {
        let (reader, writer) = serve(server);
        let options = options();
        let host = H::start();
        let client = host.enter(|| mcpwire_driver::McpClient::over(reader, writer, options));
        host.block_on(async { client.initialize().await.map(drop) }).expect("it opens");
        Driven { notifications: client.notifications(), client, logs: Vec::new(), host }
    }

    fn logs(&mut self) -> Vec<LogMessage> {
        while let Some(notification) = self.notifications.try_next() {
            if let Notification::Log(message) = notification {
                self.logs.push(message);
            }
        }
        self.logs.clone()
    }

    fn heard_after(
        &mut self,
        wanted: &SubscriptionFilter,
        tell: &dyn Fn(),
    ) -> Result<(SubscriptionFilter, SubscriptionEvent), Error> {
        self.host.block_on(async {
            let mut subscription = self.client.subscribe(wanted).await?;
            let agreed = subscription.acknowledged().clone();
            tell();
            let event = subscription.next().await.expect("it is open");
            Ok((agreed, event))
        })
    }
}
