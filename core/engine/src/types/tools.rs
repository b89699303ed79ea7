//! Tools: definitions, lists and call parameters. Specification: server/tools.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use super::object::object;
use super::result::page;
use super::{Icon, ItemList, TaskSupport, ToolExecution};
use crate::json::Json;
use crate::json::from_json::{Mismatch, type_name};

object! {
    /// A tool that a server offers (`Tool`).
    ///
    /// [`ListToolsResult`] rejects tools without a name, and tools whose `inputSchema` is not an object.
    pub struct Tool("a tool", finish check) {
        /// Name of the tool for `tools/call`, unique within the server.
        required name: String = "name",
        /// Display name of the tool.
        optional title: String = "title",
        /// Description of the tool, which helps language models to use it.
        optional description: String = "description",
        /// JSON Schema of the tool's arguments; `{"type":"object"}` if the server sends none.
        or_default input_schema: Json = "inputSchema",
        /// JSON Schema of the structured result,
        /// [`CallToolResult::structured_content`](crate::CallToolResult::structured_content).
        optional output_schema: Json = "outputSchema",
        /// Hints about the behaviour of the tool. They are untrusted.
        optional annotations: ToolAnnotations = "annotations",
        /// Icons to display for the tool.
        or_default icons: Vec<Icon> = "icons",
        /// Properties of the tool's execution, such as task support (revision 2025-11-25 only).
        optional execution: Box<ToolExecution> = "execution",
        /// Additional metadata of the tool (`_meta`).
        optional meta: Json = "_meta",
    }
}

fn check(mut tool: Tool) -> Result<Tool, Mismatch> {
    if tool.name.is_empty() {
        return Err(Mismatch::object("`name` is empty"));
    }
    if tool.input_schema.get() == "null" {
        tool.input_schema = Json::trusted(r#"{"type":"object"}"#);
    } else if !tool.input_schema.is_object() {
        let found = type_name(tool.input_schema.get());
        let reason = alloc::format!("`inputSchema` is {found} instead of an object");
        return Err(Mismatch::named_object(reason, Some(tool.name)));
    }
    Ok(tool)
}

impl Tool {
    /// Returns the display name: `title`, else `annotations.title`, else `name`.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// Returns whether the tool can be called as a task (revision 2025-11-25).
    ///
    /// In later revisions, the server decides at each call.
    pub fn task_support(&self) -> TaskSupport {
        self.execution.as_ref().and_then(|execution| execution.task_support.clone()).unwrap_or_default()
    }

    /// Returns how the tool's name violates the naming rules of the specification, or `None` if the name is valid.
    ///
    /// The specification only recommends these rules, so the tool works. But a language model's API or a gateway may
    /// reject the name. Specification: server/tools, "Tool Names".
    pub fn name_issue(&self) -> Option<NameIssue> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !self.name.bytes().all(is_usual) {
            return Some(NameIssue::Characters);
        }
        (self.name.len() > 128).then_some(NameIssue::TooLong)
    }
}

/// A violation of the specification's rules for tool names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameIssue {
    /// The name contains characters other than `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`.
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
    /// Hints about the behaviour of a tool (`ToolAnnotations`).
    ///
    /// A server may send wrong hints. Do not base safety decisions on them.
    pub struct ToolAnnotations("an object") {
        /// Display name of the tool.
        optional title: String = "title",
        /// Whether the tool only reads, and does not modify its environment. Absent means `false`.
        optional read_only_hint: bool = "readOnlyHint",
        /// Whether the tool may delete or overwrite data, rather than only add data. Absent means `true`.
        optional destructive_hint: bool = "destructiveHint",
        /// Whether a repeated call with the same arguments has no further effect. Absent means `false`.
        optional idempotent_hint: bool = "idempotentHint",
        /// Whether the tool interacts with external systems, such as the web. Absent means `true`.
        optional open_world_hint: bool = "openWorldHint",
    }
}

/// Parameters of list requests, such as `tools/list`.
#[derive(Debug, Default, Serialize)]
pub struct ListParams<'a> {
    /// Cursor from the previous page. `None` requests the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

page! {
    /// One page of the tools of a server (`ListToolsResult`).
    pub struct ListToolsResult {
        /// The tools of this page.
        tools: Tool = "tools",
    }
}

/// Parameters of `tools/call`.
#[derive(Debug, Serialize)]
pub struct CallToolParams<'a, A: ?Sized> {
    /// Name of the tool.
    pub name: &'a str,
    /// The arguments: a value that serializes as a JSON object.
    pub arguments: &'a A,
}
