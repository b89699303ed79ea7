//! [`ConnectionContext`]: the server's definition, and the options and callbacks that a connection uses until its end.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use mcpwire_core::internal::RequestError;
use mcpwire_core::{
    CallError, CallToolResult, CloseReason, ConnectError, RequestOptions, SendError, ToolList, Validator,
};

use crate::hooks::ConnectionHooks;
use crate::{
    Error, GracePeriods, Launcher, McpServerDef, PanicCallbacks, PanicSource, ProcessReport, ShutdownReport,
    ShutdownStep, TraceSource,
};

/// The server's definition, and the options and callbacks that a connection uses until its end.
pub struct ConnectionContext {
    /// The name of the server, which errors contain and handlers receive.
    pub name: Arc<str>,
    /// The command or URL of the server. `None` for a connection over a pair of streams.
    pub definition: Option<Arc<McpServerDef>>,
    /// How long the server's process may continue to run after each step of its shutdown.
    pub grace_periods: GracePeriods,
    /// Returns the trace context to send in the `_meta` of a request. `None` if the program has set no source.
    pub trace_context: Option<TraceSource>,
    /// The callbacks that [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic) has added.
    pub panics: PanicCallbacks,
    /// Calls the observers and the callbacks for events of the connection. `None` if the program has set none.
    pub hooks: Option<Arc<ConnectionHooks>>,
    /// Starts the server, for example in a container. `None` starts a local process.
    pub launcher: Option<Arc<dyn Launcher>>,
    /// Checks the structured content of tool results. `None` if results are not checked.
    pub output_validator: Option<Arc<dyn Validator + Send + Sync>>,
    /// Adds credentials to the requests of a connection over HTTP. `None` if the program has set no authorizer.
    #[cfg(feature = "http")]
    pub authorizer: Option<Arc<dyn crate::http::Authorizer>>,
    /// Tells a connection over HTTP that its requests have another authorization. `None` if nothing can change the authorization.
    #[cfg(feature = "http")]
    pub authorization: Option<crate::http::AuthorizationContext>,
}

/// Why a connection has ended, and the report of the server's process, to add them to the error of a request.
pub struct EndDetails {
    /// The exit status and last output of the server's process, or `None` if there is no process.
    pub process: Option<Box<ProcessReport>>,
    /// Why the connection has ended. `None` if it is open, or if the client restarts the server.
    pub reason: Option<CloseReason>,
}

impl ConnectionContext {
    /// Adds the current trace context, and the observers' data about the calling code, to the options of a request. Copies the
    /// options only if there is something to add.
    ///
    /// `tool` is the name of the called tool, which the observers receive. If the program's trace source panics, the request is
    /// sent without a trace context.
    pub fn with_caller_context<'o>(&self, options: &'o RequestOptions, tool: Option<&str>) -> Cow<'o, RequestOptions> {
        let options = match &self.hooks {
            Some(hooks) => Cow::Owned(hooks.tag(options.clone(), tool)),
            None => Cow::Borrowed(options),
        };
        let Some(source) = &self.trace_context else { return options };
        match self.panics.catch(PanicSource::TraceContext, || source.options(&options).into_owned()) {
            Some(options) => Cow::Owned(options),
            None => options,
        }
    }

    /// Does the same as [`with_caller_context`](Self::with_caller_context) for a tool call, and changes `options` in place.
    pub fn add_caller_context(&self, options: &mut RequestOptions, tool: &str) {
        if let Cow::Owned(with_context) = self.with_caller_context(options, Some(tool)) {
            *options = with_context;
        }
    }

    /// Checks the structured content of a tool result against the tool's output schema in the list `tools`.
    ///
    /// Accepts every result if the program has set no validator, or if `tools` does not contain the tool.
    ///
    /// # Errors
    /// If the structured content is missing or does not match the schema, or if the schema cannot be used.
    pub fn check_output(&self, tools: &ToolList, tool: &str, result: &CallToolResult) -> Result<(), CallError> {
        let (Some(validator), Some(tool)) = (&self.output_validator, tools.get(tool)) else { return Ok(()) };
        tool.check_output(result, &**validator).map_err(|error| CallError::Structured { error: error.into() })
    }

    /// Returns the report of a shutdown, or an error if the process is still running.
    ///
    /// # Errors
    /// If the process has not exited after it was killed.
    pub fn shutdown_result(&self, report: ShutdownReport) -> Result<ShutdownReport, Error> {
        if report.last_step == ShutdownStep::Kill && report.exit.is_none() {
            let error = "the process did not end after it was killed; the system may have blocked it in a system call";
            return Err(Error::new(&self.name, io::Error::new(io::ErrorKind::TimedOut, error)));
        }
        Ok(report)
    }

    /// Waits at the end of a shutdown until the authorizer has stored the results of its own requests, such as a token refresh.
    ///
    /// # Errors
    /// If such a request has not ended in time.
    #[cfg(feature = "http")]
    pub async fn settle_authorizer(&self) -> Result<(), Error> {
        let Some(authorizer) = &self.authorizer else { return Ok(()) };
        authorizer
            .settle()
            .await
            .map_err(|error| Error::new(&self.name, io::Error::new(io::ErrorKind::TimedOut, error)))
    }

    /// Converts the error of a request to an [`Error`]. If the connection has ended, adds the report of the server's process.
    ///
    /// `end` is called only if the connection has ended, and returns the reason and the report.
    #[cold]
    pub fn request_error(&self, error: RequestError, end: impl FnOnce() -> EndDetails) -> Error {
        match error {
            RequestError::NotSent(error @ SendError::Closed) => {
                let EndDetails { process, reason } = end();
                let error = match reason.map(CloseReason::into_opening_error) {
                    Some(ConnectError::Failed(why)) => Error::new(&self.name, io::Error::other(&*why)),
                    _ => Error::new(&self.name, error),
                };
                error.with_process(process)
            }
            RequestError::NotSent(error) => Error::new(&self.name, error),
            RequestError::Failed(error @ CallError::Closed { .. }) => {
                Error::new(&self.name, error).with_process(end().process)
            }
            RequestError::Failed(error) => Error::new(&self.name, error),
        }
    }
}
