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

    /// Sends a request of the method `M`, and waits for its result.
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
    /// For tool calls, use [`Call::begin`](crate::Call::begin).
    pub fn begin<M: Method>(&self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        let shared = &self.connection;
        // Serializes the parameters before the lock is acquired, because large parameters take time.
        let request = Prepared::<M>::new(params).map_err(|error| shared.error(error))?;
        let options = shared.context.with_caller_context(options, None);
        Pending::begin(&self.connection, ReportCallbacks::default(), |_, calls, now| {
            Ok(calls.request_prepared(&request, &options, now)?)
        })
    }

    /// Runs an operation to its end.
    async fn run<O: Operation>(&self, mut operation: O) -> Result<O::Output, Error> {
        let mut runner = OperationRunner::new(false);
        poll_fn(|cx| runner.poll(&self.connection, &mut operation, cx, &mut |_| {})).await
    }

    /// Runs an operation to its end, and calls `on_report` with its progress notifications and task statuses.
    pub(crate) async fn run_reporting<O: Operation>(
        &self,
        mut operation: O,
        mut on_report: impl FnMut(&Notification),
    ) -> Result<O::Output, Error> {
        let mut runner = OperationRunner::new(true);
        poll_fn(|cx| runner.poll(&self.connection, &mut operation, cx, &mut on_report)).await
    }

    /// Passes a notification to the engine, which queues it.
    fn send_notification(
        &self,
        send: impl FnOnce(&mut Calls<'_>, Timestamp) -> Result<(), SendError>,
    ) -> Result<(), Error> {
        self.connection.send(|state, now| send(&mut state.engine.calls(), now))
    }

    /// Returns the options with the trace context and the observer's data of the calling code.
    pub(crate) fn caller_options(&self, options: &RequestOptions) -> RequestOptions {
        self.connection.context.with_caller_context(options, None).into_owned()
    }

    /// Requests the list of tools, and stores it.
    ///
    /// Boxed, so that a program contains the code once, although several methods await it.
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
