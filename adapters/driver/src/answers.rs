//! [`Answer`]: answering what the server asks for.

use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use mcpwire_core::{Ask, AskKey, Json, RpcError};

use crate::handlers::unknown;
use crate::shared::Shared;
use crate::state::Asked;

/// Answers what a server asks its client for: its roots, something of a language model, something of a person.
///
/// ```
/// use mcpwire_driver::core::{Ask, Json, RpcError};
/// use mcpwire_driver::{Answer, ConnectOptions};
///
/// struct Roots(Vec<String>);
///
/// impl Answer for Roots {
///     async fn answer(&self, _: &Ask) -> Result<Json, RpcError> {
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
    fn answer(&self, ask: &Ask) -> impl Future<Output = Result<Json, RpcError>> + Send;
}

pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Json, RpcError>> + Send>>;

/// The answers that are being thought about.
#[derive(Default)]
pub(crate) struct Answers(Vec<(AskKey, Answering)>);

impl Answers {
    /// Takes in what the server asks for, lets all answers go on, and sends those that are there. Not under the lock.
    pub(crate) fn serve(&mut self, shared: &Shared, asks: Vec<Asked>, cx: &mut Context<'_>) {
        if asks.is_empty() && self.0.is_empty() {
            return;
        }
        for asked in asks {
            match asked {
                Asked::Asks(ask) => {
                    let key = ask.key;
                    let answering = match &shared.handlers {
                        Some(handlers) => handlers.begin(ask),
                        None => Box::pin(ready(Err(unknown()))),
                    };
                    self.0.push((key, answering));
                }
                Asked::GivesUp(key) => self.0.retain(|(open, _)| *open != key),
            }
        }
        for (key, answer) in self.poll(cx) {
            let now = shared.clock.now();
            shared.tell(|state| {
                let answered = answer.and_then(|result| match state.engine.calls().answer(key, &result, now) {
                    Ok(_) => Ok(()),
                    Err(error) => Err(RpcError::new(RpcError::INTERNAL_ERROR, error.to_string())),
                });
                if let Err(error) = answered {
                    state.engine.calls().refuse(key, &error, now);
                }
            });
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Lets all of them go on. Those that are there are taken out.
    fn poll(&mut self, cx: &mut Context<'_>) -> Vec<(AskKey, Result<Json, RpcError>)> {
        let mut there = Vec::new();
        self.0.retain_mut(|(key, answering)| match answering.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                there.push((*key, answer));
                false
            }
            Poll::Pending => true,
        });
        there
    }
}
