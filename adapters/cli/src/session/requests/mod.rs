//! [`Handlers`]: answers elicitation, sampling and roots requests of servers.
//!
//! The answers come from the answers file (`--answers FILE`), or else from the user at the terminal. If there is no file and no
//! terminal, requests are dismissed, so that a script never hangs.

mod answers;
mod elicitation;

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_tokio::ConnectOptions;
use mcpwire_tokio::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Json, Root, RpcError,
};

use serde::Serialize;
use serde_json::json;

use self::answers::{Answers, root_of_argument};
use crate::args::Options;
use crate::console::{Console, Prompt, is_at_terminal};
use crate::failure::Failure;
use crate::hub::{Answer, Asked};
use crate::text;

/// Handlers for the requests of servers: elicitation, sampling and roots. Several connections may share the handlers.
pub(super) struct Handlers {
    answers: Arc<Mutex<Option<Answers>>>,
    has_sampling: bool,
    roots: Vec<Root>,
}

impl Handlers {
    /// Creates the handlers from the command-line options. Reads the file of `--answers`, and checks the folders of `--root`.
    pub(super) fn new(options: &Options) -> Result<Self, Failure> {
        let answers = options.answers.as_deref().map(Answers::read).transpose()?;
        let mut roots = options.roots.iter().map(|root| root_of_argument(root)).collect::<Result<Vec<_>, _>>()?;
        roots.extend(answers.iter().flat_map(|answers| answers.roots.iter().cloned()));
        let has_sampling = answers.as_ref().is_some_and(Answers::has_sampling);
        Ok(Self { answers: Arc::new(Mutex::new(answers)), has_sampling, roots })
    }

    /// Adds the handlers to the options of the connection to `server`. The client declares only the capabilities for which
    /// there is a handler.
    pub(super) fn declare(&self, mut options: ConnectOptions, server: &str, console: &Console) -> ConnectOptions {
        if !self.roots.is_empty() {
            options = options.roots(self.roots.clone());
        }
        let user = User { server: text::name(server), answers: Arc::clone(&self.answers), console: console.clone() };
        let (forms, urls, models, errors) = (user.clone(), user.clone(), user.clone(), user);
        options = options
            .on_elicitation(move |form, _| ready(Ok(forms.fill_in(&form))))
            .on_url_elicitation(move |url, _| ready(Ok(urls.visit(&url))))
            .on_answer_error(move |request, error| {
                errors.console.note(&format!("`{}` was not answered: {error}", text::line(&request.method)));
            });
        if self.has_sampling { options.on_sampling(move |params, _| ready(models.sample(&params))) } else { options }
    }
}

impl Handlers {
    /// Answers a request that the running hub has passed on: with the answers file, or by asking the user.
    pub(super) fn answer(&self, asked: &Asked, console: &Console) -> Answer {
        let user =
            User { server: text::name(&asked.server), answers: Arc::clone(&self.answers), console: console.clone() };
        let params = asked.params.clone().unwrap_or_default();
        let answered = match asked.method.as_str() {
            "elicitation/create" => match params.decode::<ElicitUrl>() {
                Ok(url) => to_json(&ElicitResult::from(user.visit(&url))),
                Err(_) => params
                    .decode::<ElicitForm>()
                    .map_err(|error| RpcError::new(RpcError::INVALID_PARAMS, error.to_string()))
                    .and_then(|form| to_json(&user.fill_in(&form))),
            },
            "sampling/createMessage" => params
                .decode()
                .map_err(|error| RpcError::new(RpcError::INVALID_PARAMS, error.to_string()))
                .and_then(|params| user.sample(&params))
                .and_then(|result| to_json(&result)),
            "roots/list" => to_json(&json!({ "roots": self.roots })),
            method => Err(RpcError::new(RpcError::METHOD_NOT_FOUND, format!("method not found: {method}"))),
        };
        match answered {
            Ok(result) => Answer::Result(result),
            Err(error) => Answer::Error { code: error.code, message: error.message },
        }
    }
}

fn to_json(value: &impl Serialize) -> Result<Json, RpcError> {
    Json::from_value(value).map_err(|error| RpcError::new(RpcError::INTERNAL_ERROR, error.to_string()))
}

/// Answers the requests of one server, with the answers file (`--answers FILE`) or by asking the user at the terminal.
#[derive(Clone)]
struct User {
    server: String,
    answers: Arc<Mutex<Option<Answers>>>,
    console: Console,
}

impl User {
    fn fill_in(&self, form: &ElicitForm) -> ElicitResult {
        self.answer(&form.message, || elicitation::form(&mut Prompt, &self.server, form))
    }

    fn visit(&self, url: &ElicitUrl) -> ElicitAction {
        if self.answers().is_none() && !is_at_terminal() {
            self.console.note(&format!("{} wants you to visit a URL: {}", self.server, text::line(&url.url)));
        }
        self.answer(&url.message, || elicitation::url(&mut Prompt, &self.server, url).into()).action
    }

    /// Answers an elicitation request from the answers file or, without such a file, by calling `ask`, which asks the user at the
    /// terminal. Without a file and a terminal, dismisses the request.
    fn answer(&self, message: &str, ask: impl FnOnce() -> ElicitResult) -> ElicitResult {
        match &mut *self.answers() {
            Some(answers) => answers.elicitation(message).unwrap_or_else(|| self.dismiss(message)),
            None if is_at_terminal() => self.console.aside(ask),
            None => self.dismiss(message),
        }
    }

    fn sample(&self, params: &CreateMessageParams) -> Result<CreateMessageResult, RpcError> {
        let (answer, why) = match &mut *self.answers() {
            Some(answers) => (answers.sampling(params), "the file of --answers has no answer to this sampling request"),
            None => (None, "sampling requests are answered only from a file: --answers FILE"),
        };
        answer.unwrap_or_else(|| {
            self.console.note(&format!("{}: {why}", self.server));
            Err(RpcError::new(RpcError::USER_REJECTED, why))
        })
    }

    fn dismiss(&self, question: &str) -> ElicitResult {
        let how = "answer it at a terminal, or with --answers FILE";
        self.console.note(&format!("{} asks: {} (dismissed: {how})", self.server, text::line(question)));
        ElicitResult::cancel()
    }

    fn answers(&self) -> MutexGuard<'_, Option<Answers>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
