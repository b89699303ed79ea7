//! What servers ask of the person at the command line: their words, their consent, their folders.
//!
//! A file of answers goes first (`--answers`), then the person, if there is one at a terminal. Otherwise questions are
//! dismissed, so that a script never hangs.

mod answers;
mod dialogue;
mod roots;
mod terminal;

use std::future::ready;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcpwire_blocking::ConnectOptions;
use mcpwire_blocking::protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, Root, RpcError,
};

use self::answers::Answers;
use self::terminal::Standard;
use crate::args::Options;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::notes::Notes;
use crate::text;

/// Who answers. Read before a server is started for it.
pub(crate) struct Asks {
    answers: Option<Answers>,
    roots: Vec<Root>,
}

impl Asks {
    /// Reads the file of answers and the roots that the command line names.
    pub(crate) fn prepare(options: &Options) -> Result<Self, Failure> {
        let answers = options.answers.as_deref().map(Answers::read).transpose()?;
        let mut roots = options.roots.iter().map(|root| roots::of_argument(root)).collect::<Result<Vec<_>, _>>()?;
        roots.extend(answers.iter().flat_map(|answers| answers.roots.iter().cloned()));
        Ok(Self { answers, roots })
    }

    /// Declares what can be answered, and answers it.
    pub(crate) fn declare(
        self,
        mut options: ConnectOptions,
        server: &str,
        notes: &Notes,
        interrupt: &Interrupt,
    ) -> ConnectOptions {
        let has_sampling = self.answers.as_ref().is_some_and(Answers::has_sampling);
        if !self.roots.is_empty() {
            options = options.roots(self.roots);
        }
        let person = Person {
            server: text::line(server),
            answers: Arc::new(Mutex::new(self.answers)),
            notes: notes.clone(),
            interrupt: interrupt.clone(),
        };
        let (forms, urls, models, errors) = (person.clone(), person.clone(), person.clone(), person);
        options = options
            .on_elicitation(move |form, _| ready(Ok(forms.form(&form))))
            .on_url_elicitation(move |url, _| ready(Ok(urls.url(&url))))
            .on_answer_error(move |ask, error| {
                errors.note(&format!("`{}` was not answered: {error}", text::line(&ask.method)));
            });
        if has_sampling { options.on_sampling(move |params, _| ready(models.sample(&params))) } else { options }
    }
}

/// The person at the command line, or what stands for one.
#[derive(Clone)]
struct Person {
    server: String,
    answers: Arc<Mutex<Option<Answers>>>,
    notes: Notes,
    interrupt: Interrupt,
}

impl Person {
    fn form(&self, form: &ElicitForm) -> ElicitResult {
        match &mut *self.answers() {
            Some(answers) => answers.elicitation(&form.message).unwrap_or_else(|| self.dismiss(&form.message)),
            None if is_at_terminal() => {
                let mut terminal = Standard::new(self.interrupt.clone());
                self.notes.aside(|| dialogue::form(&mut terminal, &self.server, form))
            }
            None => self.dismiss(&form.message),
        }
    }

    fn url(&self, url: &ElicitUrl) -> ElicitAction {
        match &mut *self.answers() {
            Some(answers) => answers.elicitation(&url.message).unwrap_or_else(|| self.dismiss(&url.message)).action,
            None if is_at_terminal() => {
                let mut terminal = Standard::new(self.interrupt.clone());
                self.notes.aside(|| dialogue::url(&mut terminal, &self.server, url))
            }
            None => {
                self.note(&format!("{} wants an address visited: {}", self.server, text::line(&url.url)));
                self.dismiss(&url.message).action
            }
        }
    }

    fn sample(&self, params: &CreateMessageParams) -> Result<CreateMessageResult, RpcError> {
        let answer = self.answers().as_mut().and_then(|answers| answers.sampling(params));
        answer.unwrap_or_else(|| Err(RpcError::new(RpcError::USER_REJECTED, "the file of answers has none to this")))
    }

    fn dismiss(&self, question: &str) -> ElicitResult {
        let how = "answer it at a terminal, or with --answers FILE";
        self.note(&format!("{} asks: {} (dismissed: {how})", self.server, text::line(question)));
        ElicitResult::cancel()
    }

    fn note(&self, note: &str) {
        if self.notes.are_shown() {
            self.notes.line(note);
        }
    }

    fn answers(&self) -> MutexGuard<'_, Option<Answers>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether there is a person to read a question and to type an answer.
fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
