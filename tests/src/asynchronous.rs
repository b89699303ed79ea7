//! The async adapters, as the suite sees them: a client, and the runtime it is on.

mod hosts;
mod lines;
mod threads;

use std::future::{Future, IntoFuture, poll_fn, ready};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::{
    CallToolResult, InvalidItem, Json, LogMessage, LoggingLevel, Notification, ServerInfo, ServerRequest,
    SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, Task, TaskHandle, Tool,
};
use mcpwire_driver::{
    ConnectOptions, CurrentRuntime, Error, McpClient, McpServerDef, Notifications, RunningTask, Runtime,
    ShutdownReport, Subscription,
};
use serde_json::Value;

use crate::adapter::Number;
use crate::{Adapter, Call, Failure, Heard, Server, Statuses};

pub use hosts::{AsyncStd, Host, Reqwest, Smol, Tokio, TokioCurrent, TokioMulti, TokioReqwest};
pub use lines::Lines;
pub use threads::Threads;

/// Makes a test of each case for each async adapter. A case is a function over [`Host`].
#[macro_export]
macro_rules! on_every_async_adapter {
    ($($case:ident),+ $(,)?) => {
        $crate::on_every_async_adapter!(@host tokio_current, TokioCurrent, $($case),+);
        $crate::on_every_async_adapter!(@host tokio_multi, TokioMulti, $($case),+);
        $crate::on_every_async_adapter!(@host smol, Smol, $($case),+);
        $crate::on_every_async_adapter!(@host async_std, AsyncStd, $($case),+);
    };
    (@host $name:ident, $Host:ident, $($case:ident),+) => {
        mod $name {
            $(
                #[test]
                fn $case() {
                    $crate::watched(super::$case::<$crate::asynchronous::$Host>);
                }
            )+
        }
    };
}

/// A client, and the runtime it is on.
pub struct Async<H: Host> {
    // Before its runtime: the client goes first, and what keeps it alive.
    subscription: Option<Subscription>,
    client: McpClient<H::Runtime>,
    logs: Arc<Mutex<Vec<LogMessage>>>,
    notifications: Notifications,
    host: H,
}

impl<H: Host> Async<H> {
    /// Starts the server with other options. The connection is not opened yet.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn start_with(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Self {
        let options = change(options(server));
        Self::connect(&server.def, options, &server.heard).expect("it starts")
    }

    fn connect(def: &McpServerDef, options: ConnectOptions, heard: &Heard) -> Result<Self, Error> {
        let host = H::start();
        let client = host.enter(|| McpClient::connect_with(def, options))?;
        let notifications = client.notifications();
        Ok(Self { subscription: None, client, logs: Arc::clone(&heard.logs), notifications, host })
    }

    /// Runs what needs more than one call at a time, with a clone of the client.
    pub fn run<T>(&mut self, f: impl AsyncFnOnce(McpClient<H::Runtime>) -> T) -> T {
        let result = self.host.block_on(f(self.client.clone()));
        self.hear();
        result
    }

    /// The runtime and its client, each on its own.
    pub fn into_parts(self) -> (H, McpClient<H::Runtime>) {
        (self.host, self.client)
    }

    /// Takes what has been told.
    fn hear(&mut self) {
        while let Some(notification) = self.notifications.try_next() {
            if let Notification::Log(message) = notification {
                self.logs.lock().unwrap().push(message);
            }
        }
    }
}

impl<H: Host> Adapter for Async<H> {
    fn start(server: &Server) -> Result<Self, Failure> {
        Ok(Self::connect(&server.def, options(server), &server.heard)?)
    }

    fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Failure> {
        Ok(Self::connect(def, options, &Heard::default())?)
    }

    fn connect_authorized(
        def: &McpServerDef,
        authorizer: impl FnOnce(Arc<dyn Runtime>) -> OAuth,
    ) -> Result<Self, Failure> {
        let host = H::start();
        let client = host.enter(|| {
            let http = HttpOptions::default().authorizer(authorizer(H::Runtime::current()));
            McpClient::connect_with(def, ConnectOptions::default().http(http))
        })?;
        let notifications = client.notifications();
        Ok(Self { subscription: None, client, logs: Arc::default(), notifications, host })
    }

    fn initialize(&mut self) -> Result<ServerInfo, Failure> {
        Ok(self.run(async |client| client.initialize().await.cloned())?)
    }

    fn list_tools(&mut self) -> Result<Vec<Tool>, Failure> {
        Ok(self.run(async |client| client.list_tools().await)?.to_vec())
    }

    fn rejected_tools(&self) -> Vec<InvalidItem> {
        self.client.tools().rejected().to_vec()
    }

    fn call(&mut self, call: Call) -> Result<CallToolResult, Failure> {
        Ok(self.run(async |client| calling(&client, &call).await)?)
    }

    fn call_together(&mut self, calls: Vec<Call>) -> Vec<Result<CallToolResult, Failure>> {
        self.run(async |client| {
            let mut under_way: Vec<_> = calls.iter().map(|call| (call, Some(calling(&client, call)), None)).collect();
            poll_fn(|cx| {
                for (_, calling, ended) in &mut under_way {
                    if let Some(future) = calling
                        && let Poll::Ready(result) = future.as_mut().poll(cx)
                    {
                        *ended = Some(result.map_err(Failure::from));
                        *calling = None;
                    }
                }
                for (call, calling, ended) in &mut under_way {
                    if call.given_up && calling.take().is_some() {
                        *ended = Some(Err(Failure::given_up()));
                    }
                }
                let all = under_way.iter().all(|(_, calling, _)| calling.is_none());
                if all { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            under_way.into_iter().filter_map(|(_, _, ended)| ended).collect()
        })
    }

    fn call_and_cancel(&mut self, call: Call, stderr: &Lines, word: &str) -> Failure {
        let ended = self.run(async |client| {
            let given_up = async {
                stderr.heard(word).await;
                None
            };
            smol::future::or(async { Some(calling(&client, &call).await) }, given_up).await
        });
        match ended {
            Some(Err(error)) => error.into(),
            Some(Ok(result)) => panic!("it ends by itself: {result:?}"),
            None => Failure::given_up(),
        }
    }

    fn request_raw(&mut self, method: &str, params: Option<Value>) -> Result<String, Failure> {
        let params = params.map(|params| Json::from_value(&params).expect("it is JSON"));
        Ok(self.run(async |client| client.request_raw(method, params.as_ref()).await)?.get().to_owned())
    }

    fn subscribe(
        &mut self,
        wanted: &SubscriptionFilter,
        options: SubscribeOptions,
    ) -> Result<SubscriptionFilter, Failure> {
        let subscription = self.run(async |client| client.subscribe_with(wanted, options).await)?;
        let acknowledged = subscription.acknowledged().clone();
        self.subscription = Some(subscription);
        Ok(acknowledged)
    }

    fn next_change(&mut self) -> Option<SubscriptionEvent> {
        let mut subscription = self.subscription.take().expect("there is one");
        let next = self.run(async |_| subscription.next().await);
        self.subscription = Some(subscription);
        next
    }

    fn end_of_subscription(&self) -> Option<SubscriptionEnd> {
        self.subscription.as_ref().expect("there is one").end().cloned()
    }

    fn unsubscribe(&mut self) {
        self.subscription.take().expect("there is one").close();
    }

    fn structured(&mut self, tool: &str) -> Result<u32, Failure> {
        Ok(self.run(async |client| client.call_tool(tool, ()).structured::<Number>().await)?.n)
    }

    fn ping(&mut self) -> Result<(), Failure> {
        Ok(self.run(async |client| client.ping().await)?)
    }

    fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Failure> {
        Ok(self.run(async |client| client.set_log_level(level).await)?)
    }

    fn count_prompts(&mut self) -> Result<usize, Failure> {
        Ok(self.run(async |client| client.list_prompts().await)?.items.len())
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
        let started = self.run(async |client| {
            client.call_tool(&call.tool, &call.arguments).task_ttl(Duration::from_secs(60)).as_task().await
        })?;
        Ok(started.into_task().map(RunningTask::into_handle))
    }

    fn task_status(&mut self, handle: &TaskHandle) -> Result<Task, Failure> {
        Ok(self.run(async |client| client.task(handle.clone()).status().await)?)
    }

    fn task_result(&mut self, handle: &TaskHandle, statuses: &Statuses) -> Result<CallToolResult, Failure> {
        Ok(self.run(async |client| {
            let mut task = client.task(handle.clone());
            task.wait_with(|task| statuses.lock().unwrap().push(task.status.to_string())).await
        })?)
    }

    fn cancel_task(&mut self, handle: &TaskHandle) -> Result<(), Failure> {
        Ok(self.run(async |client| client.task(handle.clone()).cancel().await)?)
    }

    fn list_tasks(&mut self) -> Result<Vec<Task>, Failure> {
        Ok(self.run(async |client| client.list_tasks().await)?.items)
    }

    fn shutdown(mut self) -> Result<ShutdownReport, Failure> {
        Ok(self.run(async |client| client.shutdown().await)?)
    }
}

/// Runs futures at once. What each came to, in their order.
pub async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Some(Box::pin(future)), None)).collect();
    poll_fn(|cx| {
        for (future, output) in &mut futures {
            if let Some(Poll::Ready(ready)) = future.as_mut().map(|future| future.as_mut().poll(cx)) {
                *output = Some(ready);
                *future = None;
            }
        }
        if futures.iter().all(|(future, _)| future.is_none()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures.into_iter().filter_map(|(_, output)| output).collect()
}

/// Polls a future once: what it does at first is done, and it is not waited for.
pub async fn begun<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    poll_fn(|cx| match Pin::new(&mut *future).poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Looks again and again until something holds that nothing tells of.
pub async fn eventually<H: Host>(holds: impl Fn() -> bool) {
    while !holds() {
        H::sleep(Duration::from_millis(1)).await;
    }
}

fn options(server: &Server) -> ConnectOptions {
    let stderr = server.heard.stderr.clone();
    let heard = server.heard.clone();
    ConnectOptions::new(server.config.clone())
        .grace_periods(server.grace_periods)
        .answer(server.config.answers().to_vec(), move |request: ServerRequest, _| ready(heard.reply(&request)))
        .stderr(move |line| stderr.push(line))
}

fn calling<'c, R>(
    client: &'c McpClient<R>,
    call: &'c Call,
) -> Pin<Box<dyn Future<Output = Result<CallToolResult, Error>> + 'c>> {
    let mut request = client.call_tool(&call.tool, &call.arguments);
    if let Some(timeout) = call.timeout {
        request = request.timeout(timeout);
    }
    if let Some(timeout) = call.total_timeout {
        request = request.total_timeout(timeout);
    }
    if let Some(list) = &call.statuses {
        request = request.follow_task().on_status(|task| list.lock().unwrap().push(task.status.to_string()));
    }
    if let Some(list) = &call.progress {
        request = request.on_progress(|progress| list.lock().unwrap().push(progress.clone()));
    }
    Box::pin(request.into_future())
}
