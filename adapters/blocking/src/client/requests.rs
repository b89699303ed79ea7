//! `McpClient` methods for requests and notifications.

use std::sync::Arc;
use std::time::Duration;

use mcpwire_client::{Error, ErrorKind, ReportCallbacks, Tools};
use mcpwire_core::internal::{ClientState, RequestError, SingleRequest, ToolListing};
use mcpwire_core::{Calls, Method, Params, RequestOptions, Root, SendError, Ticket, Timestamp, ToolList};

use super::McpClient;
use crate::pending::Pending;
use crate::transport::Io;

impl McpClient {
    mcpwire_client::request_methods!(blocking);

    /// Sends a request of the method `M`, and waits for its result. Use this for requests that have no method of their own.
    pub fn request<M: Method>(
        &mut self,
        params: &impl Params<M>,
        options: &RequestOptions,
    ) -> Result<M::Result, Error> {
        let options = self.caller_options(options);
        self.run(SingleRequest::new(|calls, now| calls.request::<M>(params, &options, now)))
    }

    /// Sends a request of the method `M` without waiting for its result.
    ///
    /// Any number of requests can be pending. [`Pending::wait`] waits for the result. The program can wait for several results in
    /// any order.
    pub fn begin<M: Method>(&mut self, params: &impl Params<M>, options: &RequestOptions) -> Result<Pending<M>, Error> {
        let options = self.caller_options(options);
        self.begin_with(ReportCallbacks::default(), |_, calls, now| Ok(calls.request(params, &options, now)?))
    }

    /// Reads and processes messages of the server for `duration`, such as notifications and requests for the program's handlers.
    ///
    /// Otherwise, the client reads only while one of its methods waits. A server that sends much between two calls blocks
    /// meanwhile.
    pub fn listen(&mut self, duration: Duration) -> Result<(), Error> {
        self.cancel_dropped();
        let until = self.connection.now() + duration;
        match self.connection.wait_for("messages", Some(until), |_| None::<()>) {
            Err(error) if error.kind() != ErrorKind::Cancelled => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends a notification to the server, as far as possible without waiting. The next use of the client sends the rest.
    fn send_notification(
        &mut self,
        send: impl FnOnce(&mut Calls<'_>, Timestamp) -> Result<(), SendError>,
    ) -> Result<(), Error> {
        let now = self.connection.now();
        send(&mut self.connection.io.engine.calls(), now).map_err(|error| self.connection.error(error))?;
        self.connection.flush();
        Ok(())
    }

    /// Returns a copy of the options, with the trace context of the calling code and the observer's data about that code.
    pub(crate) fn caller_options(&self, options: &RequestOptions) -> RequestOptions {
        self.connection.io.context.with_caller_context(options, None).into_owned()
    }

    /// Requests the list of tools from the server, and stores the list in the client.
    fn load_tools(&mut self) -> Result<Tools, Error> {
        let options = self.caller_options(&RequestOptions::new());
        let list = self.run(ToolListing::new(options))?;
        // The buffers are freed, because a list is larger than most responses, and the next request may be sent much later.
        self.connection.io.engine.shrink();
        Ok(Tools::new(list))
    }

    fn tool_list(&self) -> Arc<ToolList> {
        Arc::clone(self.connection.io.state.client.tools.list())
    }

    fn replace_roots(&mut self, roots: Vec<Root>) {
        self.connection.handlers.set_roots(roots);
    }

    /// Sends a request by calling `send`, and returns the handle with which the program waits for the result.
    pub(crate) fn begin_with<M: Method>(
        &mut self,
        callbacks: ReportCallbacks<'static>,
        send: impl FnOnce(&mut ClientState, &mut Calls<'_>, Timestamp) -> Result<Ticket<M>, RequestError>,
    ) -> Result<Pending<M>, Error> {
        self.cancel_dropped();
        self.connection.check_authorization();
        if self.connection.io.engine.session().keeps_answers_to::<M>() {
            // A change that the server has reported may make the cached response stale, so it must be read first.
            self.connection.catch_up();
        }
        let now = self.connection.now();
        let Io { engine, state, .. } = &mut self.connection.io;
        let ticket = send(&mut state.client, &mut engine.calls(), now).map_err(|error| self.connection.error(error))?;
        self.connection.flush();
        Ok(Pending::new(ticket, callbacks, self))
    }
}
