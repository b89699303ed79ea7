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
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Root, RpcError,
};

use self::answers::{Answers, root_of_argument};
use crate::args::Options;
use crate::console::{Console, Prompt, is_at_terminal};
use crate::failure::Failure;
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
        let answer = self.answers().as_mut().and_then(|answers| answers.sampling(params));
        answer.unwrap_or_else(|| Err(RpcError::new(RpcError::USER_REJECTED, "the file of answers has none to this")))
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
