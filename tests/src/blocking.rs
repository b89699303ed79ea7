//! The blocking adapter, as the suite sees it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_blocking::http::{HttpOptions, Runtime};
use mcpwire_blocking::protocol::{
    CallTool, CallToolParams, CallToolResult, CompleteParams, CompleteResult, GetPromptResult, InvalidItem, ItemList,
    Json, LoggingLevel, Method, Params, Prompt, ReadResourceResult, RequestOptions, Resource, ResourceTemplate, Root,
    ServerInfo, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, Task, TaskHandle, Tool,
};
use mcpwire_blocking::{ConnectOptions, Error, McpClient, McpServerDef, Pending, ShutdownReport, Subscription};
use mcpwire_testkit::{PipeReader, PipeWriter};
use serde::de::DeserializeOwned;
use serde_json::Value;
use smol::io::BlockOn;

use crate::adapter::shared_methods;
use crate::{Adapter, Call, Failure, Lines, Server, Statuses};

/// A client of `mcpwire-blocking`.
pub struct Blocking {
    client: McpClient,
    subscription: Option<Subscription>,
}

/// The blocking client has waited already.
macro_rules! at_once {
    ($self:ident, $value:expr) => {
        $value
    };
}

impl Adapter for Blocking {
    shared_methods!(at_once);

    fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Failure> {
        Ok(Self { client: McpClient::connect_with(def, options)?, subscription: None })
    }

    fn connect_authorized(
        def: &McpServerDef,
        authorizer: impl FnOnce(Arc<dyn Runtime>) -> OAuth,
    ) -> Result<Self, Failure> {
        let http = HttpOptions::default().authorizer(authorizer(mcpwire_blocking::http::runtime()));
        Self::connect_with(def, ConnectOptions::default().http(http))
    }

    fn over(reader: PipeReader, writer: PipeWriter, options: ConnectOptions) -> Self {
        let client = McpClient::over(BlockOn::new(reader), BlockOn::new(writer), options);
        Self { client: client.expect("there are threads"), subscription: None }
    }

    fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.client.rejected_tools()
    }

    fn call(&mut self, call: Call) -> Result<CallToolResult, Failure> {
        let mut request = self.client.call_tool(&call.tool, &call.arguments);
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
                    ticket.cancel(&mut self.client, "no longer needed");
                    Err(Failure::given_up())
                }
                other => Ok(other),
            });
        }
        waited_for.into_iter().map(|ticket| Ok(ticket??.wait(&mut self.client)?)).collect()
    }

    fn call_and_cancel(&mut self, call: Call, stderr: &Lines, word: &str) -> Failure {
        let canceller = self.client.canceller().expect("there is one");
        thread::scope(|scope| {
            scope.spawn(|| {
                stderr.wait_for(word);
                canceller.cancel();
            });
            self.call(call).expect_err("it does not end by itself")
        })
    }

    fn next_change(&mut self) -> Option<SubscriptionEvent> {
        let subscription = self.subscription.as_mut().expect("there is one");
        subscription.next(&mut self.client).expect("the wait is not cancelled")
    }

    fn unsubscribe(&mut self) {
        self.subscription.take().expect("there is one").close(&mut self.client);
    }
}

impl Blocking {
    fn begin(&mut self, call: &Call) -> Result<Pending<CallTool>, Error> {
        let mut options = RequestOptions::new();
        (options.timeout, options.total_timeout) = (call.timeout, call.total_timeout);
        self.client.begin(&CallToolParams { name: &call.tool, arguments: &call.arguments }, &options)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (kind, connecting, text) = (error.kind(), error.is_connecting(), error.to_string());
        Self { kind, connecting, text, error: Some(error) }
    }
}
