//! Panics in the program's code that a connection calls: caught, and reported to the program.
//!
//! With `panic = "abort"` nothing is caught: the process ends.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcpwire_core::{RpcError, ServerRequest, printable};

use crate::{Follower, Watcher};

/// A panic in a handler or callback of the program, which the connection has caught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} panicked: {}", self.source, printable(message))]
#[non_exhaustive]
pub struct CallbackPanic {
    /// Which code panicked. It is no source in the sense of `std::error::Error`, and written so for that reason.
    pub r#source: PanicSource,
    /// The message of the panic.
    pub message: String,
}

/// Which code of the program panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PanicSource {
    /// The handler of a server's request.
    Handler {
        /// What the server asked for, such as `elicitation/create`.
        method: String,
    },
    /// The callback `on_answer_error`.
    OnAnswerError,
    /// The callback `on_notification`, or the method `notification` of a handler.
    OnNotification,
    /// The callback `on_invalid_message`.
    OnInvalidMessage,
    /// The observer.
    Observer,
    /// The callback `stderr`.
    Stderr,
    /// The callback `trace`.
    Trace,
    /// The source of trace contexts, `trace_context`.
    TraceContext,
    /// What the connection runs on: a stream, a timer, a clock or a runtime of the program. The connection ends with it.
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

/// Runs code of the program.
///
/// # Errors
/// The message of the panic, if it panics.
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| message_of(&*payload))
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

/// The program's callbacks for panics.
#[derive(Clone, Default)]
pub struct Panics(Option<Hook>);

/// One callback for all that were added. It does not panic.
type Hook = Arc<dyn Fn(&CallbackPanic) + Send + Sync>;

impl Panics {
    /// Adds a callback, which is called after those before it.
    pub fn add(&mut self, hook: impl Fn(&CallbackPanic) + Send + Sync + 'static) {
        let former = self.0.take();
        self.0 = Some(Arc::new(move |panic| {
            if let Some(former) = &former {
                former(panic);
            }
            // There is no callback left to report its own panic to.
            let _ = catch_panic(|| hook(panic));
        }));
    }

    /// Reports a panic to all callbacks.
    #[cold]
    #[inline(never)]
    pub fn report(&self, source: PanicSource, message: String) {
        if let Some(hook) = &self.0 {
            hook(&CallbackPanic { source, message });
        }
    }

    /// Reports a panic of a stream or the runtime, and returns the reason with which the connection ends.
    ///
    /// Call this before the connection ends: a caller that learns of the end may look for the report.
    #[cold]
    #[inline(never)]
    pub fn report_transport(&self, message: String) -> Arc<str> {
        let why = format!("{} panicked: {message}", PanicSource::Transport).into();
        self.report(PanicSource::Transport, message);
        why
    }

    /// Reports a panic with this payload to all callbacks.
    #[cold]
    #[inline(never)]
    pub(crate) fn report_payload(&self, source: PanicSource, payload: &(dyn Any + Send)) {
        self.report(source, message_of(payload));
    }

    /// Runs code of the program, and reports its panic. `None` if it panicked.
    pub fn catch<T>(&self, source: PanicSource, f: impl FnOnce() -> T) -> Option<T> {
        catch_panic(f).map_err(|message| self.report(source, message)).ok()
    }

    /// Makes the `stderr` callback one that does not panic.
    pub fn guard_follower(&self, mut follower: Follower) -> Follower {
        let panics = self.clone();
        Box::new(move |line| panics.catch(PanicSource::Stderr, || follower(line)).unwrap_or_default())
    }

    /// Makes the `trace` callback one that does not panic.
    pub fn guard_watcher(&self, mut watcher: Watcher) -> Watcher {
        let panics = self.clone();
        Box::new(move |direction, line| {
            panics.catch(PanicSource::Trace, || watcher(direction, line)).unwrap_or_default();
        })
    }
}

impl fmt::Debug for Panics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panics").field("has_callback", &self.0.is_some()).finish()
    }
}

/// The reason why a handler did not answer a request of the server.
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
    /// Returns the error that the program is told.
    pub fn to_rpc_error(&self, ask: &ServerRequest) -> RpcError {
        match self {
            HandlerError::Refused(error) => error.clone(),
            HandlerError::Panicked(message) => {
                let source = PanicSource::Handler { method: ask.method.clone() };
                RpcError::new(RpcError::INTERNAL_ERROR, format!("{source} panicked: {message}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_message_is_that_of_the_panic() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert_eq!(catch_panic(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert_eq!(catch_panic(|| panic!("{} and {}", 1, 2)), Err::<(), _>("1 and 2".to_owned()));
        assert_eq!(catch_panic(|| std::panic::panic_any(7)), Err::<(), _>("a value that is no text".to_owned()));
    }

    #[test]
    fn all_are_told_whoever_panics_on_it() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut panics = Panics::default();
        panics.add(|_| panic!("once more"));
        let sink = Arc::clone(&told);
        panics.add(move |panic| sink.lock().unwrap().push(panic.to_string()));
        assert_eq!(panics.catch(PanicSource::Trace, || 1), Some(1));
        assert_eq!(panics.catch::<()>(PanicSource::Trace, || panic!("a\x1b[31m")), None);
        panics.report(PanicSource::Handler { method: "roots/list".into() }, "b".into());
        assert_eq!(
            *told.lock().unwrap(),
            ["the callback `trace` panicked: a", "the handler of `roots/list` panicked: b"]
        );
    }

    #[test]
    fn a_line_that_makes_its_follower_panic_is_not_the_last() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let follower: Follower = Box::new(move |line| {
            assert_ne!(line, "b", "on purpose");
            sink.lock().unwrap().push(line.to_owned());
        });
        let mut stderr = crate::Stderr::new(Some(Panics::default().guard_follower(follower)));
        stderr.push(b"a\nb\nc\n");
        assert_eq!(*lines.lock().unwrap(), ["a", "c"]);
    }
}
