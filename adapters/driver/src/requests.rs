//! Requests and notifications of any method.

use mcpwire_client::Error;
use mcpwire_core::internal::{PageWalk, PingServer, Prepared, RawRequest, SetLogLevel, SingleRequest};
use mcpwire_core::{ItemList, Json, ListParams, LoggingLevel, Method, PagedList, Params, Raw, RequestOptions, Root};

use crate::client::McpClient;
use crate::operation::run;
use crate::pending::Pending;

impl<R> McpClient<R> {
    /// Sends a request of a typed method, and waits for its result.
    pub async fn request<M: Method>(
        &self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        self.begin(params, options)?.await
    }

    /// Sends a request of a typed method without waiting for its result.
    ///
    /// Any number of requests may be pending. The returned future is `'static`: it can be spawned, for example in a
    /// `JoinSet`. [`Call::begin`](crate::Call::begin) is the same for a call of a tool.
    pub fn begin<M: Method>(&self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        let shared = self.connection.shared();
        // Large parameters take time to serialize, so that happens before the lock is acquired.
        let request = Prepared::<M>::new(params).map_err(|error| shared.refused(error))?;
        let options = shared.traced(options);
        Pending::begin(&self.connection, |_, calls, now| Ok(calls.request_prepared(&request, &options, now)?))
    }

    /// Sends a request of any method, and returns its result as the server sent it.
    #[doc(alias = "send_raw")]
    pub async fn request_raw(&self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        let options = RequestOptions::new();
        let options = self.connection.shared().traced(&options);
        run(&self.connection, SingleRequest::<Raw, _>::new(RawRequest { method, params }, &options)).await
    }

    /// Sends a notification of any method.
    ///
    /// The notification is queued, and sent as soon as the server reads.
    #[doc(alias = "send_notification")]
    pub fn notify_raw(&self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        let shared = self.connection.shared();
        let now = shared.clock.now();
        shared.send(|state| state.engine.calls().notify_raw(method, params, now))
    }

    /// Replaces the roots. A legacy server that was told that they may change is notified.
    #[doc(alias = "notifications/roots/list_changed")]
    pub fn set_roots(&self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        let shared = self.connection.shared();
        // Without handlers, the server was not told that it may ask for roots.
        if let Some(handlers) = &shared.handlers {
            handlers.set_roots(roots.into_iter().collect());
        }
        let now = shared.clock.now();
        shared.send(|state| state.engine.calls().notify_roots_changed(now))
    }

    /// Sets the minimum level of the server's log messages.
    ///
    /// A legacy server (up to revision 2025-11-25) receives `logging/setLevel`; a modern one receives the level with each
    /// request from now on.
    #[doc(alias = "logging/setLevel")]
    pub async fn set_log_level(&self, level: &LoggingLevel) -> Result<(), Error> {
        let options = RequestOptions::new();
        run(&self.connection, SetLogLevel::new(level, &self.connection.shared().traced(&options))).await
    }

    /// Checks that the server responds.
    ///
    /// A legacy server (up to revision 2025-11-25) receives `ping`. Modern servers have no `ping`, so they receive
    /// `server/discover`.
    #[doc(alias = "server/discover")]
    pub async fn ping(&self) -> Result<(), Error> {
        let options = RequestOptions::new();
        run(&self.connection, PingServer::new(&self.connection.shared().traced(&options))).await
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
        let options = shared.traced(options).into_owned();
        let walk = PageWalk::<M>::new(options, shared.lock().engine.session().config(), shared.clock.now());
        run(&self.connection, walk).await
    }
}
