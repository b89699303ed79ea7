//! Tools: their definitions, calls and results (2026-07-28, server/tools).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use super::object::object;
use super::result::page;
use super::{Icon, Listed, TaskSupport, ToolExecution};
use crate::json::Json;
use crate::json::from_json::{Mismatch, type_name};

object! {
    /// A tool that a server offers.
    ///
    /// An entry of a list is rejected if it has no name, or if its `inputSchema` is not an object.
    pub struct Tool("a tool", finish check) {
        /// The name to call the tool by, unique within its server.
        required name: String = "name",
        /// The name to show to people.
        optional title: String = "title",
        /// What the tool does, in words for a language model.
        optional description: String = "description",
        /// The JSON Schema of the arguments; `{"type":"object"}` if the server sends none.
        or_default input_schema: Json = "inputSchema",
        /// The JSON Schema of [`CallToolResult::structured_content`](crate::CallToolResult::structured_content).
        optional output_schema: Json = "outputSchema",
        /// Hints about the tool's behaviour. Do not trust them.
        optional annotations: ToolAnnotations = "annotations",
        /// Icons of the tool.
        or_default icons: Vec<Icon> = "icons",
        /// How the tool can be called (2025-11-25 only).
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
    /// Returns the name to show to people: the title of the tool or of its annotations, or else the name.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// Returns whether the tool can be called as a task (2025-11-25). In later revisions the server decides at each call.
    pub fn task_support(&self) -> TaskSupport {
        self.execution.as_ref().and_then(|execution| execution.task_support.clone()).unwrap_or_default()
    }

    /// Returns how the tool's name departs from the specification's advice (2026-07-28, server/tools, "Tool Names").
    ///
    /// Such a tool works, but the interface of a language model or a gateway may refuse its name.
    pub fn name_issue(&self) -> Option<NameIssue> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !self.name.bytes().all(is_usual) {
            return Some(NameIssue::Characters);
        }
        (self.name.len() > 128).then_some(NameIssue::TooLong)
    }
}

/// How the name of a tool departs from the specification's advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameIssue {
    /// The name has characters other than `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`.
    Characters,
    /// The name is longer than 128 characters.
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
    /// Hints about a tool's behaviour. The server may be wrong or lie: base no decision about safety on them.
    pub struct ToolAnnotations("an object") {
        /// The name to show to people.
        optional title: String = "title",
        /// Whether the tool changes nothing.
        optional read_only_hint: bool = "readOnlyHint",
        /// Whether the tool may destroy data.
        optional destructive_hint: bool = "destructiveHint",
        /// Whether a second call with the same arguments changes nothing more.
        optional idempotent_hint: bool = "idempotentHint",
        /// Whether the tool reaches systems outside of the server.
        optional open_world_hint: bool = "openWorldHint",
    }
}

/// Parameters of the requests that list something, such as `tools/list`.
#[derive(Debug, Default, Serialize)]
pub struct ListParams<'a> {
    /// The cursor from the previous page; `None` asks for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

page! {
    /// One page of a server's tools (`ListToolsResult`).
    pub struct ListToolsResult {
        /// The tools.
        tools: Tool = "tools",
    }
}

/// Parameters of `tools/call`.
#[derive(Debug, Serialize)]
pub struct CallToolParams<'a, A: ?Sized> {
    /// The tool's name.
    pub name: &'a str,
    /// The arguments: any value that serialises as an object.
    pub arguments: &'a A,
}
