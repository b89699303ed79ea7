//! Serializes the client's answers to requests of the server.

use serde::Serialize;

use crate::error::RpcError;
use crate::{CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, ListRootsResult};
use mcpwire_text::json::Json;
use mcpwire_text::printable;

impl ElicitForm {
    /// Completes, validates and serializes the user's response to this form, as the result of `elicitation/create`.
    ///
    /// Empty fields receive their default values, see [`ElicitForm::complete`].
    ///
    /// # Errors
    /// Returns the JSON-RPC error to send instead of a result, if the user's response does not match the form or its
    /// action is [`ElicitAction::Other`].
    pub fn answer(&self, result: ElicitResult) -> Result<Json, RpcError> {
        let result = self
            .complete(result)
            .map_err(|error| own_fault(&alloc::format!("the client's answer does not fit the form: {error}")))?;
        answer(&result)
    }
}

impl ElicitUrl {
    /// Serializes the user's decision whether to visit the URL, as the result of `elicitation/create`.
    ///
    /// # Errors
    /// Returns the JSON-RPC error to send instead of a result, if `action` is [`ElicitAction::Other`].
    pub fn answer(&self, action: ElicitAction) -> Result<Json, RpcError> {
        answer(&ElicitResult::of(action))
    }
}

impl CreateMessageResult {
    /// Serializes this response of a language model, as the result of `sampling/createMessage`.
    ///
    /// # Errors
    /// Returns the JSON-RPC error to send instead of a result, if the response cannot be serialized.
    pub fn answer(&self) -> Result<Json, RpcError> {
        json(self)
    }
}

impl ListRootsResult {
    /// Serializes the client's root directories, as the result of `roots/list`.
    ///
    /// # Errors
    /// Returns the JSON-RPC error to send instead of a result, if the list cannot be serialized.
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
    Ok(Json::from_value(result)?)
}

fn own_fault(message: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, message)
}
