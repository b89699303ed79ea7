//! [`ConnectionContext`]: the definition and options that a connection needs for its whole lifetime.

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

/// The definition of a server and the options of the program that a connection needs for its whole lifetime.
pub struct ConnectionContext {
    /// The name of the server in errors and for handlers.
    pub name: Arc<str>,
    /// How the server was started. `None` for a pair of streams.
    pub definition: Option<Arc<McpServerDef>>,
    /// Durations of the steps of the shutdown.
    pub grace_periods: GracePeriods,
    /// The source of the trace contexts of requests.
    pub trace_context: Option<TraceSource>,
    /// The callbacks that [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic) has added.
    pub panics: PanicCallbacks,
    /// The observer and the other callbacks for events of the connection.
    pub hooks: Option<Arc<ConnectionHooks>>,
    /// Starts the server in another way than as a local process.
    pub launcher: Option<Arc<dyn Launcher>>,
    /// Validates the structured content of tool results.
    pub output_validator: Option<Arc<dyn Validator + Send + Sync>>,
    /// Authorizes the requests of a connection over HTTP.
    #[cfg(feature = "http")]
    pub authorizer: Option<Arc<dyn crate::http::Authorizer>>,
    /// Tells when the requests of a connection over HTTP have another authorization. `None` without an authorizer.
    #[cfg(feature = "http")]
    pub authorization: Option<crate::http::AuthorizationContext>,
}

/// The details of a connection that has ended, for errors.
pub struct EndDetails {
    /// The exit status and last output of the server's process, or `None` if there is no process.
    pub process: Option<Box<ProcessReport>>,
    /// Why the connection has ended. `None` if it has not, or if the client restarts the server.
    pub reason: Option<CloseReason>,
}

impl ConnectionContext {
    /// Returns the options with the trace context and the observer's data of the calling code.
    ///
    /// If the program's trace source panics, the request is sent without a trace context. The observer receives the name of the tool
    /// that the request calls.
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

    /// Adds the trace context and the observer's data of the calling code to the options of a tool call. Most connections have
    /// neither. Then the options are not copied.
    pub fn add_caller_context(&self, options: &mut RequestOptions, tool: &str) {
        if let Cow::Owned(with_context) = self.with_caller_context(options, Some(tool)) {
            *options = with_context;
        }
    }

    /// Checks the result of a tool against the tool's output schema, if the program has set a validator. `tools` is the loaded
    /// list; a result passes if the list does not contain the tool.
    ///
    /// # Errors
    /// If the structured content is missing or does not match the schema, or if the schema cannot be used.
    pub fn check_output(&self, tools: &ToolList, tool: &str, result: &CallToolResult) -> Result<(), CallError> {
        let (Some(validator), Some(tool)) = (&self.output_validator, tools.get(tool)) else { return Ok(()) };
        tool.check_output(result, &**validator).map_err(|error| CallError::Structured { error: error.into() })
    }

    /// Returns the report of a shutdown.
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

    /// Waits for the requests of the authorizer whose results must not be lost, at the end of a shutdown.
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

    /// Converts the error of an operation, which may have occurred before or after its request was sent.
    ///
    /// `end` returns the details of a connection that has ended.
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
