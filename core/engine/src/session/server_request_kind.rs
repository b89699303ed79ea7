//! [`ServerRequestKind`]: a request of the server with decoded parameters. [`Config::answer`]: configures which of these
//! requests the client answers, and declares the required client capabilities.

use alloc::boxed::Box;
use alloc::string::String;

use super::config::Config;
use super::event::ServerRequest;
use crate::rpc::RpcError;
use mcpwire_text::json::from_json::{FromJson, strict};
use mcpwire_text::json::read::Reader;
use mcpwire_types::{CreateMessageParams, ElicitParams};

/// Method by which a server requests input from the user.
pub(super) const ELICIT: &str = "elicitation/create";

/// Method by which a server sends a request to the client's language model.
pub(super) const SAMPLE: &str = "sampling/createMessage";

/// Method by which a server requests the list of the client's root directories.
pub(super) const LIST_ROOTS: &str = "roots/list";

/// A request of the server to the client, with decoded parameters.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerRequestKind {
    /// `elicitation/create`: the server requests information from the user.
    Elicit(ElicitParams),
    /// `sampling/createMessage`: the server requests a response from a language model.
    Sample(Box<CreateMessageParams>),
    /// `roots/list`: the server requests the list of the client's root directories.
    ListRoots,
    /// Any other method. [`ServerRequest::method`] contains its name.
    Other,
}

impl ServerRequest {
    /// Decodes the parameters of this request according to its method.
    ///
    /// ```
    /// # use mcpwire_core::{ServerRequest, ServerRequestKind, ElicitParams, ElicitResult, Json, RpcError};
    /// fn answer(ask: &ServerRequest) -> Result<Json, RpcError> {
    ///     match ask.request()? {
    ///         ServerRequestKind::Elicit(ElicitParams::Form(form)) => form.answer(ElicitResult::decline()),
    ///         _ => Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the error with which to refuse the request, if the parameters are missing or invalid.
    pub fn request(&self) -> Result<ServerRequestKind, RpcError> {
        Ok(match &*self.method {
            ELICIT => ServerRequestKind::Elicit(self.read()?),
            SAMPLE => {
                let params: CreateMessageParams = self.read()?;
                params.check().map_err(|what| RpcError::new(RpcError::INVALID_PARAMS, what))?;
                ServerRequestKind::Sample(Box::new(params))
            }
            LIST_ROOTS => ServerRequestKind::ListRoots,
            _ => ServerRequestKind::Other,
        })
    }

    fn read<T: FromJson>(&self) -> Result<T, RpcError> {
        let read = match &self.params {
            Some(params) => strict(&mut Reader::new(params.get())).map_err(|error| alloc::format!("{error}")),
            None => Err("there are none".into()),
        };
        read.map_err(|what| {
            let message = alloc::format!("the parameters of `{}` cannot be read: {what}", self.method);
            RpcError::new(RpcError::INVALID_PARAMS, message)
        })
    }
}

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
