//! [`ServerRequestKind`]: a request of the server with decoded parameters; and the serialization of answers.

use alloc::boxed::Box;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::event::ServerRequest;
use crate::json::Json;
use crate::printable;
use crate::rpc::RpcError;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ELICIT, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl,
    LIST_ROOTS, ListRootsResult, SAMPLE,
};

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

    fn read<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        let read = match &self.params {
            Some(params) => params.decode().map_err(|error| alloc::format!("{error}")),
            None => Err("there are none".into()),
        };
        read.map_err(|what| {
            let message = alloc::format!("the parameters of `{}` cannot be read: {what}", self.method);
            RpcError::new(RpcError::INVALID_PARAMS, message)
        })
    }
}

impl ElicitForm {
    /// Checks and serializes the user's answer to this form. Fills in default values, see [`ElicitForm::complete`].
    ///
    /// # Errors
    /// Returns the error with which to refuse the request, if the answer does not match the form.
    pub fn answer(&self, result: ElicitResult) -> Result<Json, RpcError> {
        let result = self
            .complete(result)
            .map_err(|error| own_fault(&alloc::format!("the client's answer does not fit the form: {error}")))?;
        answer(&result)
    }
}

impl ElicitUrl {
    /// Serializes the user's decision whether to visit the URL, as the answer to `elicitation/create`.
    ///
    /// # Errors
    /// Returns the error with which to refuse the request, if `action` is [`ElicitAction::Other`].
    pub fn answer(&self, action: ElicitAction) -> Result<Json, RpcError> {
        answer(&ElicitResult::of(action))
    }
}

impl CreateMessageResult {
    /// Serializes this response of a language model, as the answer to `sampling/createMessage`.
    ///
    /// # Errors
    /// Returns the error with which to refuse the request, if the response cannot be serialized.
    pub fn answer(&self) -> Result<Json, RpcError> {
        json(self)
    }
}

impl ListRootsResult {
    /// Serializes this list of roots, as the answer to `roots/list`.
    ///
    /// # Errors
    /// Returns the error with which to refuse the request, if the list cannot be serialized.
    pub fn answer(&self) -> Result<Json, RpcError> {
        json(self)
    }
}

fn answer(result: &ElicitResult) -> Result<Json, RpcError> {
    match &result.action {
        ElicitAction::Other(action) => {
            Err(own_fault(&alloc::format!("the client's action is none: {}", printable(action))))
        }
        _ => json(result),
    }
}

fn json(result: &impl Serialize) -> Result<Json, RpcError> {
    Json::from_value(result).map_err(|error| own_fault(&alloc::format!("{error}")))
}

fn own_fault(message: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, message)
}
