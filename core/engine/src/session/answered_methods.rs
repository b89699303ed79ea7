//! Which requests of the server the client answers, and the capabilities that say so.

use alloc::string::String;

use super::config::Config;
use crate::types::{ELICIT, LIST_ROOTS, SAMPLE};

impl Config {
    /// The methods that servers may ask for and that the embedder answers, such as `roots/list`: each such request becomes
    /// an [`Event::Ask`](crate::Event::Ask). All others are refused at once, and so is what [`Config::capabilities`] do not
    /// declare. None by default; [`Config::answer`] adds one.
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// Says that a method of the servers' is answered: it is among [`Config::answers`] from now on. A method of the protocol
    /// has its capability declared, if it is not yet: forms only, no tools, no changes of the roots.
    pub fn answer(&mut self, method: &str) {
        let capabilities = core::mem::take(&mut self.capabilities);
        self.capabilities = match method {
            ELICIT if capabilities.elicitation.is_none() => capabilities.with_elicitation(true, false),
            SAMPLE if capabilities.sampling.is_none() => capabilities.with_sampling(false, false),
            LIST_ROOTS if capabilities.roots.is_none() => capabilities.with_roots(false),
            _ => capabilities,
        };
        self.offer(method);
    }

    fn offer(&mut self, method: &str) {
        if !self.answers.iter().any(|known| known == method) {
            self.answers.push(method.into());
        }
    }

    /// Says that people are asked: by forms, by addresses to visit, or both.
    pub fn answer_elicitation(&mut self, form: bool, url: bool) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_elicitation(form, url);
        self.offer(ELICIT);
    }

    /// Says that a language model is asked.
    pub fn answer_sampling(&mut self) {
        self.answer(SAMPLE);
    }

    /// Says that there are roots, and that servers are told when they change.
    pub fn answer_roots(&mut self) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_roots(true);
        self.offer(LIST_ROOTS);
    }
}
