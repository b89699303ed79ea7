//! [`ServerRequestKind`]: a request of the server with decoded parameters.

use alloc::boxed::Box;

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
