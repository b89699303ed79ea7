//! [`Answer`]: answering what the server asks for.

use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_client::{HandlerError, PanicSource, catch_panic, finish_ask};
use mcpwire_core::{Json, RpcError, ServerRequest};

use crate::handlers::unknown;
use crate::shared::Shared;
use crate::state::Asked;

/// Answers what a server asks its client for: its roots, something of a language model, something of a person.
///
/// ```
/// use mcpwire_driver::core::{ServerRequest, Json, RpcError};
/// use mcpwire_driver::{Answer, ConnectOptions};
///
/// struct Roots(Vec<String>);
///
/// impl Answer for Roots {
///     async fn answer(&self, _: &ServerRequest) -> Result<Json, RpcError> {
///         let roots: Vec<_> = self.0.iter().map(|uri| format!(r#"{{"uri":"{uri}"}}"#)).collect();
///         Json::parse(format!(r#"{{"roots":[{}]}}"#, roots.join(",")))
///             .map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
///     }
/// }
///
/// let options = ConnectOptions::default().answer(["roots/list"], Roots(vec!["file:///home/me/project".into()]));
/// ```
pub trait Answer: Send + Sync + 'static {
    /// Answers one request with an object, or refuses it.
    ///
    /// The future may borrow what it likes of `self`. It is polled by the task that drives the connection, beside
    /// everything else: it may take its time, and call the client, but must not block the thread. It is dropped if the
    /// server gives its request up or the connection ends.
    ///
    /// If it panics, the server is refused with an internal error, and everything else goes on:
    /// see [`ConnectOptions`](crate::ConnectOptions#panics).
    fn answer(&self, ask: &ServerRequest) -> impl Future<Output = Result<Json, RpcError>> + Send;
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// The requests of the server whose handlers have not answered yet.
#[derive(Default)]
pub(crate) struct Answers(Vec<(ServerRequest, Answering)>);

impl Answers {
    /// Takes in what the server asks for, lets all answers go on, and sends those that are there. Not under the lock.
    pub(crate) fn serve(&mut self, shared: &Shared, asks: Vec<Asked>, cx: &mut Context<'_>) {
        if asks.is_empty() && self.0.is_empty() {
            return;
        }
        for asked in asks {
            match asked {
                Asked::Asks(mut ask) => {
                    let handlers = shared.handlers.as_ref();
                    let begun = match handlers {
                        Some(handlers) => catch_panic(|| handlers.begin(&ask)),
                        None => Ok(Box::pin(ready(Err(unknown()))) as Answering),
                    };
                    match begun {
                        Ok(answering) => {
                            // The handler has a copy. Only the callback for errors needs another.
                            let is_needed = handlers.is_some_and(|handlers| handlers.on_error.is_some());
                            ask.params = ask.params.filter(|_| is_needed);
                            self.0.push((ask, answering));
                        }
                        Err(message) => finish(shared, &ask, Err(HandlerError::Panicked(message))),
                    }
                }
                Asked::GivesUp(key) => self.0.retain(|(ask, _)| ask.key != key),
            }
        }
        for (ask, answer) in self.poll(cx) {
            finish(shared, &ask, answer);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Lets all of them go on. Those that are there are taken out.
    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<(ServerRequest, Result<Json, HandlerError>)> {
        let mut there = Vec::new();
        let mut at = 0;
        while let Some((_, answering)) = self.0.get_mut(at) {
            let answer = match catch_panic(|| answering.as_mut().poll(cx)) {
                Ok(Poll::Pending) => {
                    at += 1;
                    continue;
                }
                Ok(Poll::Ready(answer)) => answer.map_err(HandlerError::Refused),
                Err(message) => Err(HandlerError::Panicked(message)),
            };
            there.push((self.0.remove(at).0, answer));
        }
        there
    }
}

/// Tells the program of a handler that did not answer, and the server what the handler has come to.
fn finish(shared: &Shared, ask: &ServerRequest, answer: Result<Json, HandlerError>) {
    if let Err(error) = &answer {
        if let HandlerError::Panicked(message) = error {
            shared.context.panics.report(PanicSource::Handler { method: ask.method.clone() }, message.clone());
        }
        if let Some(on_error) = shared.handlers.as_ref().and_then(|handlers| handlers.on_error.as_ref()) {
            shared.context.panics.catch(PanicSource::OnAnswerError, || on_error(ask, &error.to_rpc_error(ask)));
        }
    }
    let now = shared.clock.now();
    shared.tell(|state| finish_ask(&mut state.engine.calls(), ask, answer, now));
}
