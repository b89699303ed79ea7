//! Tools: what they are, how they are called, what they answer (2026-07-28, server/tools).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use super::object::object;
use super::result_type::complete;
use super::{ContentBlock, Icon, Listed, TaskSupport, ToolExecution};
use crate::json::Json;
use crate::json::from_json::{Mismatch, type_name};

object! {
    /// A tool that a server offers.
    ///
    /// A list leaves out an entry without a name, or whose `inputSchema` is there and no object.
    pub struct Tool("a tool", finish check) {
        /// The name to call it by; unique within its server.
        required name: String = "name",
        /// The name that people read.
        optional title: String = "title",
        /// What it does, in words for a language model.
        optional description: String = "description",
        /// JSON Schema of the arguments; `{"type":"object"}` where the server gave none.
        or_default input_schema: Json = "inputSchema",
        /// JSON Schema of [`CallToolResult::structured_content`].
        optional output_schema: Json = "outputSchema",
        /// Hints about its behaviour. Untrusted.
        optional annotations: ToolAnnotations = "annotations",
        /// Pictures of it.
        or_default icons: Vec<Icon> = "icons",
        /// How it is to be called (2025-11-25).
        optional execution: Box<ToolExecution> = "execution",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

fn check(mut tool: Tool) -> Result<Tool, Mismatch> {
    if tool.name.is_empty() {
        return Err(Mismatch::Object { reason: "`name` is empty".into(), name: None });
    }
    if tool.input_schema.get() == "null" {
        tool.input_schema = Json::trusted(r#"{"type":"object"}"#);
    } else if !tool.input_schema.is_object() {
        let found = type_name(tool.input_schema.get());
        let reason = alloc::format!("`inputSchema` is {found} instead of an object").into();
        return Err(Mismatch::Object { reason, name: Some(tool.name) });
    }
    Ok(tool)
}

impl Tool {
    /// The name to show: the title, where the tool or its annotations have one.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// Whether it may be called as a task (2025-11-25; in later revisions that is up to the server at each call).
    pub fn task_support(&self) -> TaskSupport {
        self.execution.as_ref().and_then(|execution| execution.task_support.clone()).unwrap_or_default()
    }

    /// What about the name is against the specification's advice (2026-07-28, server/tools, "Tool Names"). The tool works
    /// all the same; language models' interfaces and gateways may not take the name.
    pub fn name_issue(&self) -> Option<NameIssue> {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !self.name.bytes().all(usual) {
            return Some(NameIssue::Characters);
        }
        (self.name.len() > 128).then_some(NameIssue::TooLong)
    }
}

/// What is unusual about the name of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameIssue {
    /// It has characters other than `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`.
    Characters,
    /// It is longer than 128 characters.
    TooLong,
}

impl fmt::Display for NameIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameIssue::Characters => "its name has characters other than letters, digits, `_`, `-` and `.`",
            NameIssue::TooLong => "its name is longer than 128 characters",
        })
    }
}

object! {
    /// Hints about a tool's behaviour. They may be wrong: nothing that matters may rest on them.
    pub struct ToolAnnotations("an object") {
        /// The name that people read.
        optional title: String = "title",
        /// It changes nothing.
        optional read_only_hint: bool = "readOnlyHint",
        /// It may destroy something.
        optional destructive_hint: bool = "destructiveHint",
        /// Calling it again with the same arguments changes nothing more.
        optional idempotent_hint: bool = "idempotentHint",
        /// It reaches things outside of the server.
        optional open_world_hint: bool = "openWorldHint",
    }
}

/// Parameters of requests for a list.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ListParams<'a> {
    /// Where to go on, from the page before; opaque.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

object! {
    /// One page of a server's tools (`ListToolsResult`).
    pub struct ListToolsResult(
        "an object",
        finish |page: ListToolsResult| complete(page.result_type.as_deref()).map(|()| page)
    ) {
        /// The tools.
        or_blank tools: Listed<Tool> = "tools",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

/// Parameters of `tools/call`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CallToolParams<'a, A: ?Sized> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: anything that serialises as an object.
    pub arguments: &'a A,
}

/// What a tool answered (`CallToolResult`).
///
/// That the tool failed (`is_error`) is an answer like any other; a call whose answer cannot be read is an error of the
/// call.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// The answer in blocks. Empty both where the server sent an empty list and where it sent none; [`Self::text`] tells
    /// them apart.
    pub content: Vec<ContentBlock>,
    /// The answer as a value, where the tool has an output schema.
    pub structured_content: Option<Json>,
    /// The tool failed, and the content says why.
    pub is_error: bool,
    /// Metadata.
    pub meta: Option<Json>,
    /// Members that this version of the library does not know.
    pub extra: super::Extra,
    /// The whole result, where it has no array of content.
    pub without_content: Option<Json>,
}
