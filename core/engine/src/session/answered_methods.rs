//! The requests of the server that the client answers, and the capabilities for them.

use alloc::string::String;

use super::config::Config;
use crate::types::{ELICIT, LIST_ROOTS, SAMPLE};

impl Config {
    /// Returns the methods of server requests that the embedder answers, such as `roots/list`.
    ///
    /// A request of such a method becomes an [`Event::ServerRequest`](crate::Event::ServerRequest), if [`Config::capabilities`] allow the request.
    /// The session refuses all other requests of the server. Empty by default; [`Config::answer`] adds a method.
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// Adds a method to [`Config::answers`], and declares its capability if the protocol has one.
    ///
    /// A capability that is declared already stays unchanged. The declared capability is the smallest: elicitation by forms,
    /// sampling without tools, roots without change notifications.
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

    /// Adds `elicitation/create`, and declares elicitation by forms, by URLs, or both.
    pub fn answer_elicitation(&mut self, form: bool, url: bool) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_elicitation(form, url);
        self.offer(ELICIT);
    }

    /// Adds `sampling/createMessage`, and declares sampling without tools.
    pub fn answer_sampling(&mut self) {
        self.answer(SAMPLE);
    }

    /// Adds `roots/list`, and declares roots with change notifications.
    pub fn answer_roots(&mut self) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_roots(true);
        self.offer(LIST_ROOTS);
    }
}
