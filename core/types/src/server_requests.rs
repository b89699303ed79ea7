//! Requests of a server: checks them against the capabilities that the client declared, and serializes the client's
//! answers.

use alloc::string::String;

use crate::capabilities::{allows_mode, has_member};
use crate::elicitation::{FORM, elicitation_mode};
use crate::error::RpcError;
use crate::sampling::check_messages;
use crate::{
    ClientCapabilities, CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, ElicitUrl, ListRootsResult,
};
use mcpwire_text::json::{Json, JsonText, from_json};
use mcpwire_text::printable;

/// Method by which a server requests input from the user.
const ELICIT: &str = "elicitation/create";

/// Method by which a server sends a request to the client's language model.
const SAMPLE: &str = "sampling/createMessage";

/// Method by which a server requests the list of the client's root directories.
const LIST_ROOTS: &str = "roots/list";

impl ClientCapabilities {
    /// Checks whether a server may send the request `method` to a client with these capabilities.
    ///
    /// Methods that the protocol does not define always pass. `Config::answers` decides
    /// whether the client answers them.
    ///
    /// # Errors
    /// Returns the error to answer the request with. It is [`RpcError::METHOD_NOT_FOUND`] for an undeclared
    /// capability. It is [`RpcError::INVALID_PARAMS`] for an undeclared part of a declared capability, or for an
    /// invalid sampling conversation (protocol revision 2025-11-25, client/elicitation and client/sampling, "Error
    /// Handling").
    pub fn allow(&self, method: &str, params: Option<&Json>) -> Result<(), RpcError> {
        match (method, &self.elicitation, &self.sampling, &self.roots) {
            (ELICIT, None, ..) => Err(undeclared("elicitation")),
            (SAMPLE, _, None, _) => Err(undeclared("sampling")),
            (LIST_ROOTS, .., None) => Err(undeclared("roots")),
            (ELICIT, Some(declared), ..) => allow_elicitation(declared, params),
            (SAMPLE, _, Some(declared), _) => allow_sampling(declared, params),
            _ => Ok(()),
        }
    }
}

fn undeclared(capability: &str) -> RpcError {
    let message = alloc::format!("this client has not declared the capability `{capability}`");
    RpcError::new(RpcError::METHOD_NOT_FOUND, message)
}

fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

fn allow_elicitation(declared: &Json, params: Option<&Json>) -> Result<(), RpcError> {
    let mode = params.map_or_else(|| String::from(FORM), elicitation_mode);
    if allows_mode(declared, &mode) {
        return Ok(());
    }
    Err(invalid(alloc::format!("this client has not declared elicitation of the mode `{}`", printable(&mode))))
}

fn allow_sampling(declared: &Json, params: Option<&Json>) -> Result<(), RpcError> {
    // Parameters without `messages` pass here. The code that answers the request rejects them with a better error.
    let Some(params) = params.filter(|params| has_member(params, "messages")) else { return Ok(()) };
    let has_choice = params.member_text("toolChoice").is_some_and(|choice| choice.starts_with('{'));
    if (has_member(params, "tools") || has_choice) && !has_member(declared, "tools") {
        return Err(invalid("this client has not declared `sampling.tools`"));
    }
    let messages = params.member_text("messages").and_then(from_json::from_str).unwrap_or_default();
    check_messages(&messages).map_err(invalid)
}

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
        Ok(Json::from_value(self)?)
    }
}

impl ListRootsResult {
    /// Serializes the client's root directories, as the result of `roots/list`.
    ///
    /// # Errors
    /// Returns the JSON-RPC error to send instead of a result, if the list cannot be serialized.
    pub fn answer(&self) -> Result<Json, RpcError> {
        Ok(Json::from_value(self)?)
    }
}

fn answer(result: &ElicitResult) -> Result<Json, RpcError> {
    match &result.action {
        ElicitAction::Other(action) => {
            Err(own_fault(&alloc::format!("the client's action is none: {}", printable(action))))
        }
        _ => Ok(Json::from_value(result)?),
    }
}

fn own_fault(message: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, message)
}
