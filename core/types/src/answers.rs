//! Serializes the client's answers to requests of the server.

use serde::Serialize;

use crate::error::RpcError;
use crate::json::Json;
use crate::text::printable;
use crate::{CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, ListRootsResult};

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
