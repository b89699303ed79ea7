//! Checks the order of tool calls and tool results in a sampling conversation. Specification: client/sampling, "Message
//! Content Constraints".
//!
//! [`check_messages`] works on JSON text, so a program that never answers `sampling/createMessage` does not contain the
//! code that deserializes the messages.

use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use crate::sampling_content::SamplingContent;
use mcpwire_text::json::scan;

#[derive(Default)]
pub(crate) struct MessageTools {
    /// Number of all content blocks of the message, to detect tool results beside other content.
    blocks: usize,
    /// Ids of the tool calls in the message.
    calls: Vec<String>,
    /// Ids of the tool calls that the message answers, one for each tool result.
    results: Vec<String>,
}

impl MessageTools {
    pub(crate) fn new(content: &[SamplingContent]) -> Self {
        MessageTools {
            blocks: content.len(),
            calls: content.iter().filter_map(SamplingContent::tool_use_id).map(String::from).collect(),
            results: content.iter().filter_map(SamplingContent::answered_tool_use).map(String::from).collect(),
        }
    }

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

/// Checks that a message with tool results answers exactly the tool calls of the message before it, and contains
/// nothing else.
///
/// `messages` yields, as an error, the name of the missing or invalid member of a message that could not be parsed.
///
/// # Errors
/// Returns a description of the first invalid message, to send to the server.
pub(crate) fn check(messages: impl Iterator<Item = Result<MessageTools, &'static str>>) -> Result<(), String> {
    let mut open_calls = Vec::new();
    for (at, message) in messages.enumerate() {
        let message = message.map_err(|name| {
            alloc::format!("`messages` cannot be read: entry {at}: `{name}` is missing, or of a wrong type")
        })?;
        if !message.results.is_empty() && message.results.len() < message.blocks {
            return Err(alloc::format!("message {at} has results of tools beside other content"));
        }
        if sorted(open_calls) != sorted(message.results) {
            return Err(alloc::format!("the calls of tools before message {at} and the results in it do not match"));
        }
        open_calls = message.calls;
    }
    if open_calls.is_empty() { Ok(()) } else { Err("the last calls of tools have no results".into()) }
}

/// Parses the messages of a `sampling/createMessage` request, a JSON array, and checks them as [`check`] does.
pub(crate) fn check_messages(messages: &[u8]) -> Result<(), String> {
    if !scan::is_array(messages) {
        return Err("`messages` cannot be read".into());
    }
    let mut at = 0;
    check(iter::from_fn(|| {
        scan::next_element(messages, &mut at).map(|message| MessageTools::parse(&messages[message]))
    }))
}

// A heap, because its code is a tenth of the size of the code that sorts a slice.
fn sorted(ids: Vec<String>) -> Vec<String> {
    BinaryHeap::from(ids).into_sorted_vec()
}
