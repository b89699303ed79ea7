//! The async adapters, as the suite sees them: a client, and the runtime it is on.

mod hosts;

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcpwire_authorization::OAuth;
use mcpwire_driver::http::HttpOptions;
use mcpwire_driver::protocol::{
    CallToolResult, CompleteParams, CompleteResult, GetPromptResult, InvalidItem, ItemList, Json, LoggingLevel, Method,
    Params, Prompt, ReadResourceResult, RequestOptions, Resource, ResourceTemplate, Root, ServerInfo, SubscribeOptions,
    SubscriptionEnd, SubscriptionEvent, SubscriptionFilter, Task, TaskHandle, Tool,
};
use mcpwire_driver::{
    ConnectOptions, CurrentRuntime, Error, McpClient, McpServerDef, Runtime, ShutdownReport, Subscription,
};
use mcpwire_testkit::{PipeReader, PipeWriter};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::adapter::shared_methods;
use crate::{Adapter, Call, Failure, Lines, Server, Statuses};

pub use hosts::{AsyncStd, Host, Reqwest, Smol, Threads, Tokio, TokioCurrent, TokioMulti, TokioReqwest};

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

/// Makes a test of each case on tokio only. A case is a function over [`Host`] whose outcome the other runtimes cannot change.
#[macro_export]
macro_rules! on_one_runtime {
    ($($case:ident),+ $(,)?) => {
        $crate::on_every_async_adapter!(@host one_runtime, TokioMulti, $($case),+);
    };
}

/// A client, and the runtime it is on.
pub struct Async<H: Host> {
    // Before its runtime: the client goes first, and what keeps it alive.
    subscription: Option<Subscription>,
    client: McpClient<H::Runtime>,
    host: H,
}

impl<H: Host> Async<H> {
    /// Starts the server with other options. The connection is not opened yet.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn start_with(server: &Server, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Self {
        Self::connect_with(&server.def, change(server.options())).expect("it starts")
    }

    /// Runs what needs more than one call at a time, with a clone of the client.
    pub fn run<T>(&mut self, f: impl AsyncFnOnce(McpClient<H::Runtime>) -> T) -> T {
        self.host.block_on(f(self.client.clone()))
    }

    /// The runtime and its client, each on its own.
    pub fn into_parts(self) -> (H, McpClient<H::Runtime>) {
        (self.host, self.client)
    }
}

/// Waits on the runtime of the client.
macro_rules! on_the_runtime {
    ($self:ident, $future:expr) => {
        $self.host.block_on(async { $future.await })
    };
}

impl<H: Host> Adapter for Async<H> {
    shared_methods!(on_the_runtime);

    fn connect_with(def: &McpServerDef, options: ConnectOptions) -> Result<Self, Failure> {
        let host = H::start();
        let client = host.enter(|| McpClient::connect_with(def, options))?;
        Ok(Self { subscription: None, client, host })
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
        Ok(Self { subscription: None, client, host })
    }

    fn over(reader: PipeReader, writer: PipeWriter, options: ConnectOptions) -> Self {
        let host = H::start();
        let client = host.enter(|| McpClient::over(reader, writer, options));
        Self { subscription: None, client, host }
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

    fn next_change(&mut self) -> Option<SubscriptionEvent> {
        let subscription = self.subscription.as_mut().expect("there is one");
        self.host.block_on(subscription.next())
    }

    fn unsubscribe(&mut self) {
        self.subscription.take().expect("there is one").close();
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
