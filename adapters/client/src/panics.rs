//! Catches panics in the program's handlers and callbacks, and reports them to the program.
//!
//! In a program built with `panic = "abort"`, a panic ends the process.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcpwire_core::{RpcError, ServerRequest, printable};

/// A panic in a handler or callback of the program that the connection has caught. Passed to
/// [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} panicked: {}", self.source, printable(message))]
#[non_exhaustive]
pub struct CallbackPanic {
    /// The handler or callback that panicked. The identifier is raw, because `thiserror` would use a field `source` as the
    /// error's source.
    pub r#source: PanicSource,
    /// The message of the panic.
    pub message: String,
}

/// The handler, callback or object of the program that panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PanicSource {
    /// The handler that answers a request of the server.
    Handler {
        /// Method of the request, such as `elicitation/create`.
        method: String,
    },
    /// The callback `on_answer_error`.
    OnAnswerError,
    /// The callback `on_notification`, or the method `notification` of a handler.
    OnNotification,
    /// The callback `on_invalid_message`.
    OnInvalidMessage,
    /// An object that [`ConnectOptions::observer`](crate::ConnectOptions::observer) has added.
    Observer,
    /// The callback `stderr`.
    Stderr,
    /// The callback `trace`.
    Trace,
    /// The function that `trace_context` has set, which returns trace contexts.
    TraceContext,
    /// A stream, timer, clock or runtime that the program has passed to the connection. The panic ends the connection.
    Transport,
}

impl fmt::Display for PanicSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PanicSource::Handler { method } => return write!(f, "the handler of `{}`", printable(method)),
            PanicSource::OnAnswerError => "the callback `on_answer_error`",
            PanicSource::OnNotification => "the callback `on_notification`",
            PanicSource::OnInvalidMessage => "the callback `on_invalid_message`",
            PanicSource::Observer => "the observer",
            PanicSource::Stderr => "the callback `stderr`",
            PanicSource::Trace => "the callback `trace`",
            PanicSource::TraceContext => "the source `trace_context`",
            PanicSource::Transport => "a stream or the runtime of the connection",
        })
    }
}

/// Calls `f` and returns its result. Catches a panic in `f`.
///
/// # Errors
/// The message of the panic, if `f` panics.
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| message_of(&*payload))
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

/// The callbacks that receive each panic. [`ConnectOptions::on_panic`](crate::ConnectOptions::on_panic) adds them.
#[derive(Clone, Default)]
pub struct PanicCallbacks(Vec<PanicCallback>);

type PanicCallback = Arc<dyn Fn(&CallbackPanic) + Send + Sync>;

impl PanicCallbacks {
    /// Adds a callback. Callbacks are called in the order in which they were added.
    pub fn add(&mut self, callback: impl Fn(&CallbackPanic) + Send + Sync + 'static) {
        self.0.push(Arc::new(callback));
    }

    /// Passes a panic to all callbacks.
    #[cold]
    pub fn report(&self, source: PanicSource, message: String) {
        let panic = CallbackPanic { source, message };
        for callback in &self.0 {
            // A panic in the callback itself is ignored, because no callback is left to report it to.
            let _ = catch_panic(|| callback(&panic));
        }
    }

    /// Reports a panic in a stream, timer or clock of the program, and returns the text of the reason why the connection ends.
    ///
    /// Call this before the connection ends, so that a program that is told of the end has already received the report.
    #[cold]
    pub fn report_transport(&self, message: String) -> Arc<str> {
        let why = format!("{} panicked: {message}", PanicSource::Transport).into();
        self.report(PanicSource::Transport, message);
        why
    }

    /// Calls `f`, and returns its result. If `f` panics, reports the panic and returns `None`.
    pub fn catch<T>(&self, source: PanicSource, f: impl FnOnce() -> T) -> Option<T> {
        catch_panic(f).map_err(|message| self.report(source, message)).ok()
    }
}

/// The reason why a handler has returned no answer to a request of the server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandlerError {
    /// The handler refused the request with this error.
    #[error("the handler refused the request: {0}")]
    Refused(RpcError),
    /// The handler panicked with this message.
    #[error("the handler panicked: {}", printable(.0))]
    Panicked(String),
}

impl HandlerError {
    /// Returns the error for the callback `on_answer_error`. It contains the message of a panic, which the server never receives.
    pub fn to_rpc_error(&self, request: &ServerRequest) -> RpcError {
        match self {
            HandlerError::Refused(error) => error.clone(),
            HandlerError::Panicked(message) => {
                let source = PanicSource::Handler { method: request.method.clone() };
                RpcError::new(RpcError::INTERNAL_ERROR, format!("{source} panicked: {message}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::{Clock, ConnectOptions, Stderr, Transport};

    #[test]
    fn the_message_is_that_of_the_panic() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert_eq!(catch_panic(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert_eq!(catch_panic(|| panic!("{} and {}", 1, 2)), Err::<(), _>("1 and 2".to_owned()));
        assert_eq!(catch_panic(|| std::panic::panic_any(7)), Err::<(), _>("a value that is no text".to_owned()));
    }

    #[test]
    fn a_callback_that_panics_does_not_stop_the_other_callbacks() {
        let reports = Arc::new(Mutex::new(Vec::new()));
        let mut panics = PanicCallbacks::default();
        panics.add(|_| panic!("once more"));
        let sink = Arc::clone(&reports);
        panics.add(move |panic| sink.lock().unwrap().push(panic.to_string()));
        assert_eq!(panics.catch(PanicSource::Trace, || 1), Some(1));
        assert_eq!(panics.catch::<()>(PanicSource::Trace, || panic!("a\x1b[31m")), None);
        panics.report(PanicSource::Handler { method: "roots/list".into() }, "b".into());
        assert_eq!(
            *reports.lock().unwrap(),
            ["the callback `trace` panicked: a", "the handler of `roots/list` panicked: b"]
        );
    }

    #[test]
    fn a_listener_that_panics_receives_the_next_line() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let options = ConnectOptions::default().stderr(move |line| {
            assert_ne!(line, "b", "on purpose");
            sink.lock().unwrap().push(line.to_owned());
        });
        let mut stderr = Stderr::new(options.into_parts(None, Transport::Stream, Clock::system()).stderr);
        stderr.push(b"a\nb\nc\n");
        assert_eq!(*lines.lock().unwrap(), ["a", "c"]);
    }
}
