//! The blocking adapter, as the suite sees it.

use std::future::ready;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_blocking::http::{HttpOptions, Runtime};
use mcpwire_blocking::protocol::{
    CallTool, CallToolParams, CallToolResult, InvalidItem, Json, LoggingLevel, Notification, RequestOptions,
    ServerInfo, ServerRequest, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, Task,
    TaskHandle, Tool,
};
use mcpwire_blocking::{
    ConnectOptions, Error, McpClient, McpServerDef, Pending, RunningTask, ShutdownReport, Subscription,
};
use serde_json::Value;

use crate::adapter::Number;
use crate::asynchronous::Lines;
use crate::{Adapter, Call, Failure, Heard, Server, Statuses};

/// A client of `mcpwire-blocking`.
pub struct Blocking(McpClient, Option<Subscription>);

impl Adapter for Blocking {
    fn start(server: &Server) -> Result<Self, Failure> {
        let Heard { stderr, logs, .. } = server.heard.clone();
        let answering = server.heard.clone();
        let options = ConnectOptions::new(server.config.clone())
            .grace_periods(server.grace_periods)
            .answer(server.config.answers().to_vec(), move |request: ServerRequest, _| ready(answering.reply(&request)))
            .stderr(move |line| stderr.push(line))
            .on_notification(move |notification| {
                if let Notification::Log(message) = notification {
                    logs.lock().unwrap().push(message.clone());
                }
            });
        Ok(Self(McpClient::connect_with(&server.def, options)?, None))
    }

    fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Failure> {
        Ok(Self(McpClient::connect_with(def, options)?, None))
    }

    fn connect_authorized(
        def: &McpServerDef,
        authorizer: impl FnOnce(Arc<dyn Runtime>) -> OAuth,
    ) -> Result<Self, Failure> {
        let http = HttpOptions::default().authorizer(authorizer(mcpwire_blocking::http::runtime()));
        Self::connect_with(def, ConnectOptions::default().http(http))
    }

    fn initialize(&mut self) -> Result<ServerInfo, Failure> {
        Ok(self.0.initialize()?.clone())
    }

    fn list_tools(&mut self) -> Result<Vec<Tool>, Failure> {
        Ok(self.0.list_tools()?.to_vec())
    }

    fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.0.rejected_tools()
    }

    fn call(&mut self, call: Call) -> Result<CallToolResult, Failure> {
        let mut request = self.0.call_tool(&call.tool, &call.arguments);
        if let Some(timeout) = call.timeout {
            request = request.timeout(timeout);
        }
        if let Some(timeout) = call.total_timeout {
            request = request.total_timeout(timeout);
        }
        if let Some(list) = call.statuses {
            request = request.follow_task().on_status(move |task| list.lock().unwrap().push(task.status.to_string()));
        }
        if let Some(list) = call.progress {
            request = request.on_progress(move |progress| list.lock().unwrap().push(progress.clone()));
        }
        Ok(request.send()?)
    }

    fn call_together(&mut self, calls: Vec<Call>) -> Vec<Result<CallToolResult, Failure>> {
        let begun: Vec<_> = calls.iter().map(|call| self.begin(call)).collect();
        let mut waited_for = Vec::new();
        for (call, ticket) in calls.iter().zip(begun) {
            waited_for.push(match ticket {
                Ok(ticket) if call.given_up => {
                    ticket.cancel(&mut self.0, "no longer needed");
                    Err(Failure::given_up())
                }
                other => Ok(other),
            });
        }
        waited_for.into_iter().map(|ticket| Ok(ticket??.wait(&mut self.0)?)).collect()
    }

    fn call_and_cancel(&mut self, call: Call, stderr: &Lines, word: &str) -> Failure {
        let canceller = self.0.canceller().expect("there is one");
        thread::scope(|scope| {
            scope.spawn(|| {
                stderr.wait_for(word);
                canceller.cancel();
            });
            self.call(call).expect_err("it does not end by itself")
        })
    }

    fn request_raw(&mut self, method: &str, params: Option<Value>) -> Result<String, Failure> {
        let params = params.map(|params| Json::from_value(&params).expect("it is JSON"));
        Ok(self.0.request_raw(method, params.as_ref())?.get().to_owned())
    }

    fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: SubscribeOptions,
    ) -> Result<SubscriptionFilter, Failure> {
        let subscription = self.0.subscribe_with(wanted, options)?;
        let acknowledged = subscription.acknowledged().clone();
        self.1 = Some(subscription);
        Ok(acknowledged)
    }

    fn next_change(&mut self) -> Option<SubscriptionEvent> {
        let subscription = self.1.as_mut().expect("there is one");
        subscription.next(&mut self.0).expect("the wait is not cancelled")
    }

    fn end_of_subscription(&self) -> Option<SubscriptionEnd> {
        self.1.as_ref().expect("there is one").end().cloned()
    }

    fn unsubscribe(&mut self) {
        self.1.take().expect("there is one").close(&mut self.0);
    }

    fn structured(&mut self, tool: &str) -> Result<u32, Failure> {
        Ok(self.0.call_tool(tool, ()).structured::<Number>()?.n)
    }

    fn ping(&mut self) -> Result<(), Failure> {
        Ok(self.0.ping()?)
    }

    fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Failure> {
        Ok(self.0.set_log_level(level)?)
    }

    fn count_prompts(&mut self) -> Result<usize, Failure> {
        Ok(self.0.list_prompts()?.items.len())
    }

    fn server_info(&self) -> Option<ServerInfo> {
        self.0.server_info().cloned()
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight()
    }

    fn is_running(&mut self) -> bool {
        self.0.is_running()
    }

    fn pid(&self) -> u32 {
        self.0.pid().expect("there is a process")
    }

    fn stderr_tail(&mut self) -> String {
        self.0.stderr_tail()
    }

    fn begin_task(&mut self, call: Call) -> Result<Result<TaskHandle, CallToolResult>, Failure> {
        let request = self.0.call_tool(&call.tool, &call.arguments).task_ttl(Duration::from_secs(60));
        Ok(request.as_task()?.into_task().map(RunningTask::into_handle))
    }

    fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Failure> {
        Ok(self.0.task(handle.clone()).status()?)
    }

    fn task_result(&mut self, handle: &TaskHandle, statuses: &Statuses) -> Result<CallToolResult, Failure> {
        let mut task = self.0.task(handle.clone());
        Ok(task.wait_with(|task| statuses.lock().unwrap().push(task.status.to_string()))?)
    }

    fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Failure> {
        Ok(self.0.task(handle.clone()).cancel()?)
    }

    fn list_tasks(&mut self) -> Result<Vec<Task>, Failure> {
        Ok(self.0.list_tasks()?.items)
    }

    fn shutdown(self) -> Result<ShutdownReport, Failure> {
        Ok(self.0.shutdown()?)
    }
}

impl Blocking {
    fn begin(&mut self, call: &Call) -> Result<Pending<CallTool>, Error> {
        let mut options = RequestOptions::new();
        (options.timeout, options.total_timeout) = (call.timeout, call.total_timeout);
        self.0.begin(&CallToolParams { name: &call.tool, arguments: &call.arguments }, &options)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (kind, connecting, text) = (error.kind(), error.is_connecting(), error.to_string());
        Self { kind, connecting, text, error: Some(error) }
    }
}
