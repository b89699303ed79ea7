//! Requests and notifications of any method.

use std::time::Duration;

use mcpwire_client::{Error, ReportCallbacks};
use mcpwire_core::internal::{
    ClientState, PageWalk, PingServer, RawRequest, RequestError, SendRequest, SetLogLevel, SingleRequest, Unprepared,
};
use mcpwire_core::{
    Calls, ItemList, Json, ListParams, LoggingLevel, Method, PagedList, Params, Raw, RequestOptions, Root, SendError,
    Ticket, Timestamp,
};

use super::McpClient;
use crate::connection::Connection;
use crate::pending::Pending;

impl McpClient {
    /// Sends a request of the method `M`, and waits for its result.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        self.run_request(Unprepared(params), options)
    }

    /// Sends a request of the method `M` without waiting for its result.
    ///
    /// Any number of requests may be pending. [`Pending::wait`] returns their results, in any order.
    pub fn begin<M: Method>(&mut self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        let options = self.connection.context.with_caller_context(options).into_owned();
        self.begin_with(ReportCallbacks::default(), |_, calls, now| Ok(calls.request(params, &options, now)?))
    }

    /// Sends a request of any method, and returns its result as the server sent it.
    #[doc(alias = "send_raw")]
    pub fn request_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Error> {
        self.run_request::<Raw>(RawRequest { method, params }, &RequestOptions::new())
    }

    /// Sends a notification of any method.
    #[doc(alias = "send_notification")]
    pub fn notify_raw(&mut self, method: &str, params: Option<&Json>) -> Result<(), Error> {
        self.send(|calls, now| calls.notify_raw(method, params, now))
    }

    /// Replaces the roots. Notifies a legacy server if the client has declared `roots.listChanged`.
    #[doc(alias = "notifications/roots/list_changed")]
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is not general enough over the lifetime of `Calls`"
    )]
    pub fn set_roots(&mut self, roots: impl IntoIterator<Item = Root>) -> Result<(), Error> {
        self.connection.answers.set_roots(roots);
        self.send(|calls, now| calls.notify_roots_changed(now))
    }

    /// Sets the minimum level of the server's log messages.
    ///
    /// A legacy server (up to revision 2025-11-25) receives `logging/setLevel`. A modern server receives the level with each later
    /// request.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the server does not declare the capability `logging`: it sends no log
    /// messages. Also for [`LoggingLevel::Other`] and a modern server, which would refuse each request with such a level.
    #[doc(alias = "logging/setLevel")]
    pub fn set_log_level(&mut self, level: &LoggingLevel) -> Result<(), Error> {
        let options = self.connection.context.with_caller_context(&RequestOptions::new()).into_owned();
        self.run(&mut SetLogLevel::new(level, &options), &mut |_| {})
    }

    /// Checks that the server responds.
    ///
    /// A legacy server (up to revision 2025-11-25) receives `ping`. Modern servers have no `ping`, so they receive
    /// `server/discover`.
    #[doc(alias = "server/discover")]
    pub fn ping(&mut self) -> Result<(), Error> {
        let options = self.connection.context.with_caller_context(&RequestOptions::new()).into_owned();
        self.run(&mut PingServer::new(&options), &mut |_| {})
    }

    /// Requests all pages of a list.
    pub fn list_all<M>(&mut self) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        self.list_all_with::<M>(&RequestOptions::new())
    }

    /// Requests all pages of a list, with options for each request.
    ///
    /// [`RequestOptions::fresh`] bypasses the client's cache. [`RequestOptions::total_timeout`] limits the time for all pages
    /// together.
    pub fn list_all_with<M>(
        &mut self,
        options: &RequestOptions,
    ) -> Result<ItemList<<M::Result as PagedList>::Item>, Error>
    where
        M: Method<Result: PagedList>,
        for<'a> ListParams<'a>: Params<M>,
    {
        let options = self.connection.context.with_caller_context(options).into_owned();
        let mut walk = PageWalk::<M>::new(options, self.connection.engine.session().config(), self.connection.now());
        self.run(&mut walk, &mut |_| {})
    }

    /// Reads and processes messages of the server for `duration`.
    ///
    /// Without this, the client reads only while it waits for a response. A server that sends much in between must wait.
    pub fn listen(&mut self, duration: Duration) -> Result<(), Error> {
        self.cancel_dropped();
        let until = self.connection.now() + duration;
        match self.connection.wait_for(Some(until), |_| None::<()>) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.io_error(error)),
        }
    }

    /// Sends a notification.
    fn send(&mut self, send: impl FnOnce(&mut Calls<'_>, Timestamp) -> Result<(), SendError>) -> Result<(), Error> {
        let now = self.connection.now();
        send(&mut self.connection.engine.calls(), now).map_err(|error| self.send_error(error))?;
        self.connection.flush();
        Ok(())
    }

    fn run_request<M: Method>(
        &mut self,
        request: impl SendRequest<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        let options = self.connection.context.with_caller_context(options).into_owned();
        self.run(&mut SingleRequest::new(request, &options), &mut |_| {})
    }

    /// Sends a request, and returns its handle.
    pub(crate) fn begin_with<M: Method>(
        &mut self,
        callbacks: ReportCallbacks<'static>,
        send: impl FnOnce(&mut ClientState, &mut Calls<'_>, Timestamp) -> Result<Ticket<M>, RequestError>,
    ) -> Result<Pending<M>, Error> {
        self.cancel_dropped();
        self.connection.check_authorization();
        if self.connection.engine.session().keeps_answers_to::<M>() {
            // The server may have reported a change that makes a cached response stale.
            self.connection.catch_up();
        }
        let now = self.connection.now();
        let Connection { engine, state, .. } = &mut self.connection;
        let ticket = send(&mut state.client, &mut engine.calls(), now).map_err(|error| self.request_error(error))?;
        // The program may wait for the result much later, so the time is no longer recent.
        self.connection.set_recent_time(None);
        Ok(Pending::new(ticket, callbacks, self))
    }
}
