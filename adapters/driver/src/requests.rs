//! `McpClient` methods for requests and notifications.

use std::future::poll_fn;
use std::sync::Arc;

use mcpwire_client::{Error, ReportCallbacks, Tools};
use mcpwire_core::internal::{Operation, Prepared, ToolListing};
use mcpwire_core::{Calls, Method, Notification, Params, RequestOptions, Root, SendError, Timestamp, ToolList};

use crate::client::McpClient;
use crate::operation::{BoxFuture, OperationRunner};
use crate::pending::Pending;

impl<R> McpClient<R> {
    mcpwire_client::request_methods!(async);

    /// Sends a request of the method `M`, and waits for its result. Use this for requests that have no method of their own.
    pub async fn request<M: Method>(
        &self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        self.begin(params, options)?.await
    }

    /// Sends a request of the method `M` without waiting for its result.
    ///
    /// Any number of requests can be pending. The returned future is `'static`: it can be spawned, for example in a `JoinSet`.
    /// For tool calls, use [`Call::begin`](crate::Call::begin), which has options such as progress callbacks.
    pub fn begin<M: Method>(&self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        let shared = &self.connection;
        // The parameters are serialized before the lock is acquired: large parameters take time.
        let request = Prepared::<M>::new(params).map_err(|error| shared.error(error))?;
        let options = shared.context.with_caller_context(options, None);
        Pending::begin(&self.connection, ReportCallbacks::default(), |_, calls, now| {
            Ok(calls.request_prepared(&request, &options, now)?)
        })
    }

    /// Runs an operation of the core, such as a listing of all pages, to its end.
    async fn run<O: Operation>(&self, mut operation: O) -> Result<O::Output, Error> {
        let mut runner = OperationRunner::new(false);
        poll_fn(|cx| runner.poll(&self.connection, &mut operation, cx, &mut |_| {})).await
    }

    /// Runs an operation of the core to its end, and calls `on_report` with its progress notifications and task statuses.
    pub(crate) async fn run_reporting<O: Operation>(
        &self,
        mut operation: O,
        mut on_report: impl FnMut(&Notification),
    ) -> Result<O::Output, Error> {
        let mut runner = OperationRunner::new(true);
        poll_fn(|cx| runner.poll(&self.connection, &mut operation, cx, &mut on_report)).await
    }

    /// Queues a notification to the server. Does not wait until it is written.
    fn send_notification(
        &self,
        send: impl FnOnce(&mut Calls<'_>, Timestamp) -> Result<(), SendError>,
    ) -> Result<(), Error> {
        self.connection.send(|state, now| send(&mut state.engine.calls(), now))
    }

    /// Returns a copy of the options, with the trace context of the calling task and the observer's data about that task.
    pub(crate) fn caller_options(&self, options: &RequestOptions) -> RequestOptions {
        self.connection.context.with_caller_context(options, None).into_owned()
    }

    /// Requests the list of tools from the server, and stores the list in the client.
    ///
    /// The future is boxed, because several methods await it. A program then contains its code only once.
    fn load_tools(&self) -> BoxFuture<'_, Result<Tools, Error>> {
        Box::pin(async move {
            let options = self.caller_options(&RequestOptions::new());
            self.run(ToolListing::new(options)).await.map(Tools::new)
        })
    }

    fn tool_list(&self) -> Arc<ToolList> {
        Arc::clone(self.connection.lock().connection.client.tools.list())
    }

    fn replace_roots(&self, roots: Vec<Root>) {
        self.connection.handlers.set_roots(roots);
    }
}
