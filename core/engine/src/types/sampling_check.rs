//! Checks the order of tool calls and tool results in a conversation (2026-07-28, client/sampling, "Message Content
//! Constraints").
//!
//! The session checks the text of a request with [`check_messages`], without reading it into types. So a program that never
//! answers `sampling/createMessage` has no code that reads those types.

use alloc::collections::BinaryHeap;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use super::sampling_content::SamplingContent;
use crate::json::scan;

/// The tool calls and tool results of one message.
#[derive(Default)]
pub(super) struct MessageTools {
    /// The number of content blocks of any kind.
    blocks: usize,
    /// The ids of the tool calls.
    calls: Vec<String>,
    /// The ids of the tool calls that the results belong to.
    results: Vec<String>,
}

impl MessageTools {
    pub(super) fn new(content: &[SamplingContent]) -> Self {
        MessageTools {
            blocks: content.len(),
            calls: content.iter().filter_map(SamplingContent::tool_use_id).map(String::from).collect(),
            results: content.iter().filter_map(SamplingContent::answered_tool_use).map(String::from).collect(),
        }
    }

    /// Reads the text of a message. The error is the name of a member that is missing or of a wrong type.
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

/// Checks that a message with tool results has nothing else, and answers exactly the tool calls of the message before it.
///
/// # Errors
/// What is wrong, in words for the server. An error among `messages` is the name of a member that a message lacks.
pub(super) fn check(messages: impl Iterator<Item = Result<MessageTools, &'static str>>) -> Result<(), String> {
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

/// Checks the text of `messages` in the parameters of `sampling/createMessage`, as [`check`] does.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_messages(messages: &[u8]) -> Result<(), String> {
    if !scan::is_array(messages) {
        return Err("`messages` cannot be read".into());
    }
    let mut at = 0;
    check(iter::from_fn(|| {
        scan::next_element(messages, &mut at).map(|message| MessageTools::parse(&messages[message]))
    }))
}

/// Sorts with a heap, which is a tenth of the code of a sort of slices.
fn sorted(ids: Vec<String>) -> Vec<String> {
    BinaryHeap::from(ids).into_sorted_vec()
}
