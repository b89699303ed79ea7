//! What a server asks for, as a type; and an answer of a handler's, as what may be sent.

use alloc::boxed::Box;
use alloc::string::ToString;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::event::Ask;
use crate::json::Json;
use crate::printable;
use crate::rpc::RpcError;
use crate::types::{
    CreateMessageParams, CreateMessageResult, ELICIT, ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl,
    LIST_ROOTS, ListRootsResult, SAMPLE,
};

/// What a server asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AskRequest {
    /// Something of the person who uses the client: `elicitation/create`.
    Elicit(ElicitParams),
    /// Something of a language model: `sampling/createMessage`.
    Sample(Box<CreateMessageParams>),
    /// The folders that matter: `roots/list`.
    ListRoots,
    /// Something else: see [`Ask::method`].
    Other,
}

impl Ask {
    /// What is asked for, as a type.
    ///
    /// ```
    /// # use mcpwire_core::{Ask, AskRequest, ElicitParams, ElicitResult, Json, RpcError};
    /// fn answer(ask: &Ask) -> Result<Json, RpcError> {
    ///     match ask.request()? {
    ///         AskRequest::Elicit(ElicitParams::Form(form)) => form.answer(ElicitResult::decline()),
    ///         _ => Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found")),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// What to refuse it with, if its parameters are not what they must be.
    pub fn request(&self) -> Result<AskRequest, RpcError> {
        Ok(match &*self.method {
            ELICIT => AskRequest::Elicit(self.read()?),
            SAMPLE => {
                let params: CreateMessageParams = self.read()?;
                params.check().map_err(|what| RpcError::new(RpcError::INVALID_PARAMS, what))?;
                AskRequest::Sample(Box::new(params))
            }
            LIST_ROOTS => AskRequest::ListRoots,
            _ => AskRequest::Other,
        })
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, RpcError> {
        let read = match &self.params {
            Some(params) => params.decode().map_err(|error| error.to_string()),
            None => Err("there are none".into()),
        };
        read.map_err(|what| {
            let message = alloc::format!("the parameters of `{}` cannot be read: {what}", self.method);
            RpcError::new(RpcError::INVALID_PARAMS, message)
        })
    }
}

impl ElicitForm {
    /// The answer to this form as it is sent, if it is one: see [`ElicitForm::complete`].
    ///
    /// # Errors
    /// What to refuse the request with: servers never get an answer that does not fit their form.
    pub fn answer(&self, result: ElicitResult) -> Result<Json, RpcError> {
        let result = self
            .complete(result)
            .map_err(|error| own_fault(&alloc::format!("the client's answer does not fit the form: {error}")))?;
        answer(&result)
    }
}

impl ElicitUrl {
    /// The answer as it is sent: what the person said to visiting the address. There is no content.
    ///
    /// # Errors
    /// What to refuse the request with, if the action is none of the specification's.
    pub fn answer(&self, action: ElicitAction) -> Result<Json, RpcError> {
        answer(&ElicitResult::of(action))
    }
}

impl CreateMessageResult {
    /// The answer as it is sent.
    ///
    /// # Errors
    /// What to refuse the request with, if it does not serialise.
    pub fn answer(&self) -> Result<Json, RpcError> {
        json(self)
    }
}

impl ListRootsResult {
    /// The answer as it is sent.
    ///
    /// # Errors
    /// What to refuse the request with, if it does not serialise.
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
    Json::from_value(result).map_err(|error| own_fault(&error.to_string()))
}

fn own_fault(message: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, message)
}
