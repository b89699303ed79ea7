//! Checks requests of a server against the capabilities that the client declared.

use alloc::string::String;

use crate::ClientCapabilities;
use crate::client_capabilities::{ELICIT, LIST_ROOTS, SAMPLE, allows_mode};
use crate::elicitation::{FORM, elicitation_mode};
use crate::error::RpcError;
use crate::sampling_check::check_messages;
use mcpwire_text::json::{Json, scan};
use mcpwire_text::printable;

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
    let has_choice = last_member(params, "toolChoice").is_some_and(|choice| choice.starts_with(b"{"));
    if (has_member(params, "tools") || has_choice) && !has_member(declared, "tools") {
        return Err(invalid("this client has not declared `sampling.tools`"));
    }
    check_messages(last_member(params, "messages").unwrap_or_default()).map_err(invalid)
}

fn has_member(object: &Json, name: &str) -> bool {
    last_member(object, name).is_some_and(|text| text != b"null")
}

fn last_member<'a>(object: &'a Json, name: &str) -> Option<&'a [u8]> {
    scan::last_member(object.get().as_bytes(), name)
}
