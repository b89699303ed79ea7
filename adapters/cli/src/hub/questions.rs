//! [`Questions`]: passes requests of servers, such as elicitation, to the command whose call has caused them.
//!
//! A request of a legacy server does not name its call. Therefore, the only command that has a call in flight at the server gets the
//! request. If several commands have one, the request is refused, and each command is told why.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_tokio::ConnectOptions;
use mcpwire_tokio::protocol::{Json, RpcError, ServerRequest};
use tokio::sync::{mpsc, oneshot};

use super::AddHandlers;
use super::protocol::{Answer, Asked, Response};
use crate::text;

/// The requests of servers that a command may answer.
const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The commands that have a call in flight, and the requests of servers that wait for their answers. Clones share the state.
#[derive(Clone, Default)]
pub(super) struct Questions(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    callers: Vec<Caller>,
    /// The requests that wait for an answer, by their ids. Each has the key of the caller that was asked.
    waiting: HashMap<u64, (u64, oneshot::Sender<Answer>)>,
    /// The last key or id that was given to a caller or to a request.
    last: u64,
}

/// A command that has a call in flight.
struct Caller {
    key: u64,
    /// Returns whether the call is at the server with this name.
    is_at: Box<dyn Fn(&str) -> bool + Send>,
    messages: mpsc::UnboundedSender<Response>,
}

/// A call in flight. Dropping this value ends the call for [`Questions`], and refuses the requests that wait for its command.
pub(super) struct InFlight {
    questions: Questions,
    key: u64,
}

impl Questions {
    /// Returns a function that adds handlers to the connections of the hub. They declare that elicitation and sampling are
    /// answered.
    pub(super) fn handlers(&self) -> AddHandlers {
        let questions = self.clone();
        Box::new(move |server: &str, mut connect: ConnectOptions| {
            connect.config_mut().answer_elicitation(true, true);
            connect.config_mut().answer_sampling();
            let (questions, server) = (questions.clone(), server.to_owned());
            connect.answer(METHODS, move |request, _| {
                let (questions, server) = (questions.clone(), server.clone());
                async move { questions.ask(&server, request).await }
            })
        })
    }

    /// Notes that a command has a call in flight. `is_at` returns whether the call is at the server with a name. `messages` passes
    /// requests of that server to the command.
    pub(super) fn begin(
        &self,
        is_at: impl Fn(&str) -> bool + Send + 'static,
        messages: mpsc::UnboundedSender<Response>,
    ) -> InFlight {
        let mut state = self.lock();
        state.last += 1;
        let key = state.last;
        state.callers.push(Caller { key, is_at: Box::new(is_at), messages });
        InFlight { questions: self.clone(), key }
    }

    /// Passes the answer of a command to the server that has asked.
    pub(super) fn answered(&self, id: u64, answer: Answer) {
        let waiting = self.lock().waiting.remove(&id);
        // Sending fails if the server has withdrawn its request. Nobody needs the answer then.
        let _ = waiting.map(|(_, sender)| sender.send(answer));
    }

    async fn ask(&self, server: &str, request: ServerRequest) -> Result<Json, RpcError> {
        let refused = |why: &str| RpcError::new(RpcError::USER_REJECTED, why);
        let receiver = {
            let mut state = self.lock();
            let mut callers: Vec<(u64, mpsc::UnboundedSender<Response>)> = Vec::new();
            for caller in state.callers.iter().filter(|caller| (caller.is_at)(server)) {
                callers.push((caller.key, caller.messages.clone()));
            }
            match callers.as_slice() {
                [(key, messages)] => {
                    state.last += 1;
                    let (id, (sender, receiver)) = (state.last, oneshot::channel());
                    state.waiting.insert(id, (*key, sender));
                    let asked = Asked { id, server: server.to_owned(), method: request.method, params: request.params };
                    let _ = messages.send(Response::Asked(asked));
                    receiver
                }
                // Servers ask for the roots at any time. Without a command, there are none.
                [] if request.method == "roots/list" => {
                    return Json::parse(r#"{"roots":[]}"#).map_err(|error| refused(&error.to_string()));
                }
                [] => return Err(refused("no command of mcpwire has a call in flight that this could be about")),
                several => {
                    let why = format!(
                        "{} has sent `{}`, which was refused: several commands have a call in flight there, and the request \
                         does not say for which of them it is",
                        text::name(server),
                        text::line(&request.method)
                    );
                    for (_, messages) in several {
                        let _ = messages.send(Response::Note(why.clone()));
                    }
                    return Err(refused("several commands have a call in flight, and the request names none of them"));
                }
            }
        };
        match receiver.await {
            Ok(Answer::Result(result)) => Ok(result),
            Ok(Answer::Error { code, message }) => Err(RpcError::new(code, message)),
            Err(_) => Err(refused("the command that was asked has ended")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.questions.lock();
        state.callers.retain(|caller| caller.key != self.key);
        state.waiting.retain(|_, (key, _)| *key != self.key);
    }
}
