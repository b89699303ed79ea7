//! Tools: definitions, lists and call parameters. Specification: server/tools.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::result::page;
use crate::{Icon, TaskSupport, ToolExecution};
use mcpwire_text::json::from_json::{Mismatch, type_name};
use mcpwire_text::json::{ItemList, Json, JsonText};
use mcpwire_text::object;

object! {
    /// A tool that a server offers.
    ///
    /// A tool is invalid if it has no name, or if its `inputSchema` is not an object: a [`ListToolsResult`] omits it,
    /// and reports it in [`ItemList::rejected`].
    pub struct Tool("a tool", finish check) {
        /// Name of the tool, for use in `tools/call`. The name is unique within the server.
        required name: String = "name",
        /// Display name of the tool (from protocol revision 2025-06-18).
        optional title: String = "title",
        /// Description of the tool, which helps language models to use it.
        optional description: String = "description",
        /// JSON Schema of the tool's arguments. `{"type":"object"}` if the server sent none.
        or_default input_schema: Json = "inputSchema",
        /// JSON Schema of [`CallToolResult::structured_content`](crate::CallToolResult::structured_content), the
        /// structured result of the tool (from protocol revision 2025-06-18).
        optional output_schema: Json = "outputSchema",
        /// Hints about the behaviour of the tool (from protocol revision 2025-03-26). A server may send wrong hints.
        optional annotations: ToolAnnotations = "annotations",
        /// Icons to display for the tool (from protocol revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Properties of the tool's execution, such as task support (protocol revision 2025-11-25 only).
        optional execution: Box<ToolExecution> = "execution",
        /// Additional metadata of the tool (`_meta`; from protocol revision 2025-06-18).
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
    /// Returns the display name of the tool: `title`, `annotations.title` or `name`, whichever is present first.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or_else(annotated).unwrap_or(&self.name)
    }

    /// Returns whether clients may, must or must not call the tool as a task (protocol revision 2025-11-25).
    ///
    /// In later revisions, the value has no meaning, because the server decides for each call whether to create a task.
    pub fn task_support(&self) -> TaskSupport {
        self.execution.as_ref().and_then(|execution| execution.task_support.clone()).unwrap_or_default()
    }

    /// Returns how the tool's name violates the naming rules of the specification, or `None` if the name follows them
    /// (server/tools, "Tool Names").
    ///
    /// The rules are only recommendations: clients can still call the tool, but the API of a language model may reject
    /// its name.
    pub fn name_issue(&self) -> Option<NameIssue> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !self.name.bytes().all(is_usual) {
            return Some(NameIssue::Characters);
        }
        (self.name.len() > 128).then_some(NameIssue::TooLong)
    }
}

/// A violation of the naming rules that the specification recommends for tools.
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
        f.pad(match self {
            NameIssue::Characters => "its name has characters other than letters, digits, `_`, `-` and `.`",
            NameIssue::TooLong => "its name is longer than 128 characters",
        })
    }
}

object! {
    /// Hints about the behaviour of a tool.
    ///
    /// A server may send wrong hints, so do not base safety decisions on them.
    pub struct ToolAnnotations("an object") {
        /// Display name of the tool.
        optional title: String = "title",
        /// Whether the tool only reads, and does not modify its environment. `None` means `false`.
        optional read_only_hint: bool = "readOnlyHint",
        /// Whether the tool may delete or overwrite data, rather than only add data. `None` means `true`.
        optional destructive_hint: bool = "destructiveHint",
        /// Whether repeated calls with the same arguments have no further effect. `None` means `false`.
        optional idempotent_hint: bool = "idempotentHint",
        /// Whether the tool interacts with external systems, such as the web. `None` means `true`.
        optional open_world_hint: bool = "openWorldHint",
    }
}

/// Parameters of the requests that list tools, resources, resource templates, prompts or tasks page by page.
#[derive(Debug, Default, Serialize)]
#[doc(alias("tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"))]
#[doc(alias("PaginatedRequest", "PaginatedRequestParams", "ListToolsRequest", "ListPromptsRequest"))]
#[doc(alias("ListResourcesRequest", "ListResourceTemplatesRequest", "ListTasksRequest"))]
pub struct ListParams<'a> {
    /// Cursor of the requested page: the `nextCursor` that came with the previous page. `None` requests the first
    /// page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
}

page! {
    /// Result of `tools/list`: one page of the list of tools that a server offers.
    #[doc(alias("tools/list", "ListToolsResultResponse"))]
    pub struct ListToolsResult {
        /// The tools on this page.
        tools: Tool = "tools",
    }
}

/// Parameters of `tools/call`.
#[derive(Debug, Serialize)]
#[doc(alias("tools/call", "CallToolRequest", "CallToolRequestParams"))]
pub struct CallToolParams<'a, A: ?Sized> {
    /// Name of the tool ([`Tool::name`]).
    pub name: &'a str,
    /// Arguments of the tool call: a value that serializes as a JSON object, such as a struct, a map or a
    /// `serde_json::Value`. Pairs of a name and a value are sent as an object, too: `[("a", 1), ("b", 2)]`, or
    /// `(("a", 1), ("b", "x"))` for values of several types. `()`, `None` and an empty array stand for no arguments.
    pub arguments: &'a A,
}
