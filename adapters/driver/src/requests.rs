//! `McpClient` methods for requests and notifications of any method.

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{PageWalk, PingServer, Prepared, RawRequest, SetLogLevel, SingleRequest};
use mcpwire_core::{ItemList, Json, ListParams, LoggingLevel, Method, PagedList, Params, Raw, RequestOptions, Root};

use crate::client::McpClient;
use crate::operation::run;
use crate::pending::Pending;

impl<R> McpClient<R> {
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
        let shared = self.connection.shared();
        // Serializes the parameters before the lock is acquired, because large parameters take time.
        let request = Prepared::<M>::new(params).map_err(|error| shared.not_sent_error(error))?;
        let options = shared.with_caller_context(options);
        Pending::begin(&self.connection, ReportCallbacks::default(), |_, calls, now| {
            Ok(calls.request_prepared(&request, &options, now)?)
        })
    }

    /// Sends a request of any method, and returns its result as the server sent it.
    #[doc(alias = "send_raw")]
    pub async fn request_raw(&self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        let options = RequestOptions::new();
        let options = self.connection.shared().with_caller_context(&options);
        run(&self.connection, SingleRequest::<Raw, _>::new(RawRequest { method, params }, &options)).await
    }

    /// Sends a notification of any method.
    ///
    /// This queues the notification and does not wait until it is written.
    #[doc(alias = "send_notification")]
    pub fn notify_raw(&self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        let shared = self.connection.shared();
        let now = shared.clock.now();
        shared.send(|state| state.engine.calls().notify_raw(method, params, now))
    }

    /// Replaces the roots. If the client has declared `roots.listChanged` to a legacy server, notifies the server.
    #[doc(alias = "notifications/roots/list_changed")]
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        let shared = self.connection.shared();
        shared.handlers.set_roots(roots.into_iter().collect());
        let now = shared.clock.now();
        shared.send(|state| state.engine.calls().notify_roots_changed(now))
    }

    /// Sets the minimum level of the server's log messages.
    ///
    /// To a legacy server (up to revision 2025-11-25), this sends `logging/setLevel`. To a modern server, the client sends the
    /// level with each further request.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the server does not declare the capability `logging`: it sends no log
    /// messages. Also for [`LoggingLevel::Other`] and a modern server, which would refuse each request with such a level.
    #[doc(alias = "logging/setLevel")]
    pub async fn set_log_level(&self, level: &LoggingLevel) -> Result<(), Error> {
        let options = RequestOptions::new();
        run(&self.connection, SetLogLevel::new(level, &self.connection.shared().with_caller_context(&options))).await
    }

    /// Checks that the server responds.
    ///
    /// This sends `ping` to a legacy server (up to revision 2025-11-25), and `server/discover` to a modern server, because
    /// revision 2026-07-28 has no `ping`.
    #[doc(alias = "server/discover")]
    pub async fn ping(&self) -> Result<(), Error> {
        let options = RequestOptions::new();
        run(&self.connection, PingServer::new(&self.connection.shared().with_caller_context(&options))).await
    }

    /// Requests all pages of a list.
    pub async fn list_all<M>(&self) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_all_with::<M>(&RequestOptions::new()).await
    }

    /// Requests all pages of a list, with options for each request.
    ///
    /// [`RequestOptions::fresh`] bypasses the client's cache. [`RequestOptions::total_timeout`] limits the time for all pages
    /// together.
    pub async fn list_all_with<M>(
        &self,
        options: &RequestOptions,
    ) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        let shared = self.connection.shared();
        let options = shared.with_caller_context(options).into_owned();
        let walk = PageWalk::<M>::new(options, shared.lock().engine.session().config(), shared.clock.now());
        run(&self.connection, walk).await
    }
}
