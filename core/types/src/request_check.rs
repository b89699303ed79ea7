//! Checks requests of a server: against the capabilities that the client declared, and the order of tool calls and tool
//! results in a sampling conversation (client/sampling, "Message Content Constraints").
//!
//! The checks work on JSON text, so a program that never answers `sampling/createMessage` does not contain the code that
//! deserializes the messages.

use alloc::string::String;
use alloc::vec::Vec;

use crate::ClientCapabilities;
use crate::client_capabilities::{ELICIT, LIST_ROOTS, SAMPLE, allows_mode, has_member};
use crate::elicitation::{FORM, elicitation_mode};
use crate::error::RpcError;
use mcpwire_text::json::{Json, JsonText, scan};
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
    let has_choice = params.member_text("toolChoice").is_some_and(|choice| choice.starts_with('{'));
    if (has_member(params, "tools") || has_choice) && !has_member(declared, "tools") {
        return Err(invalid("this client has not declared `sampling.tools`"));
    }
    check_messages(params.member_text("messages").unwrap_or_default()).map_err(invalid)
}

/// Checks the messages of a `sampling/createMessage` request, a JSON array: a message with tool results must answer
/// exactly the tool calls of the message before it, and must contain nothing else.
///
/// # Errors
/// Returns a description of the first invalid message, to send to the server.
pub(crate) fn check_messages(messages: &str) -> Result<(), String> {
    let messages = messages.as_bytes();
    if !scan::is_array(messages) {
        return Err("`messages` cannot be read".into());
    }
    let mut open_calls = Vec::new();
    let (mut at, mut next) = (0, 0);
    while let Some(message) = scan::next_element(messages, &mut next) {
        let mut message = MessageTools::parse(&messages[message]).map_err(|name| {
            alloc::format!("`messages` cannot be read: entry {at}: `{name}` is missing, or of a wrong type")
        })?;
        if !message.results.is_empty() && message.results.len() < message.blocks {
            return Err(alloc::format!("message {at} has results of tools beside other content"));
        }
        message.results.sort_unstable();
        if open_calls != message.results {
            return Err(alloc::format!("the calls of tools before message {at} and the results in it do not match"));
        }
        open_calls = message.calls;
        open_calls.sort_unstable();
        at += 1;
    }
    if open_calls.is_empty() { Ok(()) } else { Err("the last calls of tools have no results".into()) }
}

#[derive(Default)]
struct MessageTools {
    /// Number of all content blocks of the message, to detect tool results beside other content.
    blocks: usize,
    /// Ids of the tool calls in the message.
    calls: Vec<String>,
    /// Ids of the tool calls that the message answers, one for each tool result.
    results: Vec<String>,
}

impl MessageTools {
    /// Parses the JSON text of a sampling message.
    ///
    /// # Errors
    /// Returns the name of the member that is missing or has the wrong type.
    fn parse(message: &[u8]) -> Result<Self, &'static str> {
        scan::last_member(message, "role").and_then(scan::text).ok_or("role")?;
        let content = scan::last_member(message, "content").unwrap_or_default();
        let mut tools = MessageTools::default();
        if scan::is_array(content) {
            let mut at = 0;
            while let Some(block) = scan::next_element(content, &mut at) {
                tools.add(&content[block]);
            }
        } else if content.starts_with(b"{") {
            tools.add(content);
        } else {
            return Err("content");
        }
        Ok(tools)
    }

    fn add(&mut self, block: &[u8]) {
        self.blocks += 1;
        let text = |name| scan::last_member(block, name).and_then(scan::text);
        match text("type").as_deref() {
            Some("tool_use") if text("name").is_some() => self.calls.extend(text("id")),
            Some("tool_result") => self.results.extend(text("toolUseId")),
            _ => {}
        }
    }
}
