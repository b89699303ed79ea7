//! Checks requests of a server against the capabilities that the client declared.

use alloc::string::String;

use crate::error::RpcError;
use crate::json::Json;
use crate::printable;
use crate::types::{
    ClientCapabilities, CreateMessageParams, ELICIT, FORM, LIST_ROOTS, SAMPLE, allows_mode, elicitation_mode,
};

impl ClientCapabilities {
    /// Checks whether a server may send this request to a client with these capabilities.
    ///
    /// Methods that the protocol does not define pass. Whether they are answered depends on
    /// [`Config::answers`](crate::Config::answers).
    ///
    /// # Errors
    /// The error to answer the request with: [`RpcError::METHOD_NOT_FOUND`] for an undeclared capability,
    /// [`RpcError::INVALID_PARAMS`] for an undeclared part of a declared capability, or for an invalid conversation
    /// (2025-11-25, client/elicitation and client/sampling, "Error Handling").
    pub fn allow(&self, method: &str, params: Option<&Json>) -> Result<(), RpcError> {
        self.allow_declared(method, params)?;
        match &self.sampling {
            Some(declared) if method == SAMPLE => allow_sampling(declared, params),
            _ => Ok(()),
        }
    }

    /// Checks all that can be checked without reading a whole conversation.
    pub(crate) fn allow_declared(&self, method: &str, params: Option<&Json>) -> Result<(), RpcError> {
        match (method, &self.elicitation, &self.sampling, &self.roots) {
            (ELICIT, None, ..) => Err(undeclared("elicitation")),
            (SAMPLE, _, None, _) => Err(undeclared("sampling")),
            (LIST_ROOTS, .., None) => Err(undeclared("roots")),
            (ELICIT, Some(declared), ..) => allow_elicitation(declared, params),
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

/// Checks a request to a language model: its tools, and the rules for a conversation with tools.
pub(crate) fn allow_sampling(declared: &Json, params: Option<&Json>) -> Result<(), RpcError> {
    let params = params.and_then(|params| params.decode::<CreateMessageParams>().ok());
    // Parameters that cannot be read are refused by the part that answers the request, which knows what is wrong.
    let Some(params) = params else { return Ok(()) };
    if params.has_tools() && declared.member_text("tools").is_none_or(|text| text == "null") {
        return Err(invalid("this client has not declared `sampling.tools`"));
    }
    params.check().map_err(invalid)
}
