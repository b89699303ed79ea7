//! Configures which server requests the client answers, and declares the required client capabilities.

use alloc::string::String;

use super::config::Config;
use super::server_request_kind::{ELICIT, LIST_ROOTS, SAMPLE};

impl Config {
    /// Returns the methods of the server requests that the embedder answers, such as `roots/list`. Empty by default.
    ///
    /// The session reports a request with one of these methods as
    /// [`Event::ServerRequest`](crate::Event::ServerRequest), if [`Config::capabilities`] contains the capability that
    /// the request needs. The session itself answers `ping`, and refuses all other requests of the server.
    /// [`Config::answer`] adds a method.
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// Adds a method, such as `roots/list`, to the server requests that the embedder answers ([`Config::answers`]).
    ///
    /// Also declares the client capability that the method requires, if the protocol defines one and it is not declared
    /// yet. The declaration is minimal: elicitation in form mode only, sampling without tools, or roots without change
    /// notifications.
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

    /// Adds `elicitation/create` to the server requests that the embedder answers ([`Config::answers`]).
    ///
    /// Also declares that the client supports elicitation in form mode if `form` is `true`, and in URL mode if `url` is
    /// `true`. `false` does not revoke a mode that was declared before.
    pub fn answer_elicitation(&mut self, form: bool, url: bool) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_elicitation(form, url);
        self.offer(ELICIT);
    }

    /// Adds `sampling/createMessage` to the server requests that the embedder answers ([`Config::answers`]).
    ///
    /// Also declares the client capability `sampling`, without support for tools, if it is not declared yet.
    pub fn answer_sampling(&mut self) {
        self.answer(SAMPLE);
    }

    /// Adds `roots/list` to the server requests that the embedder answers ([`Config::answers`]).
    ///
    /// Also declares the client capability `roots`, and that the client notifies the server when the roots change.
    pub fn answer_roots(&mut self) {
        self.capabilities = core::mem::take(&mut self.capabilities).with_roots(true);
        self.offer(LIST_ROOTS);
    }
}
