//! Converts tool definitions and tool results to the format of Anthropic's Messages API.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use mcpwire_types::{CallToolResult, ContentBlock, Json, Tool};
use serde::Serialize;

use crate::text::block_text;

/// A tool definition, as an element of `tools` in a request: `{"name":..,"description":..,"input_schema":..}`.
#[derive(Clone, Debug, Serialize)]
pub struct ToolDefinition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    input_schema: &'a Json,
}

impl<'a> ToolDefinition<'a> {
    /// Converts an MCP tool to the format of Anthropic's API. `name` is the name that the model sees: see
    /// [`ModelTools`](crate::ModelTools).
    pub fn new(name: &'a str, tool: &'a Tool) -> Self {
        ToolDefinition { name, description: tool.description.as_deref(), input_schema: &tool.input_schema }
    }
}

/// The result of a tool call of the model, as a `tool_result` block. Add the block to a `user` message.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "tool_result")]
pub struct ToolResult<'a> {
    tool_use_id: &'a str,
    content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    is_error: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: Cow<'a, str> },
    Image { source: Source<'a> },
}

#[derive(Clone, Debug, Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

impl<'a> ToolResult<'a> {
    /// Converts the result of an MCP tool to the answer to a tool call of the model. `tool_use_id` is the `id` of the
    /// model's `tool_use` block.
    ///
    /// Text and embedded text resources become text blocks, and images become image blocks. All other blocks become
    /// text blocks with their URIs and names, without binary data.
    pub fn new(tool_use_id: &'a str, result: &'a CallToolResult) -> Self {
        let content = if result.content.is_empty() {
            match result.text() {
                text if text.as_str().is_empty() => Vec::new(),
                text => Vec::from([Block::Text { text: text.into_string().into() }]),
            }
        } else {
            result.content.iter().map(Block::new).collect()
        };
        ToolResult { tool_use_id, content, is_error: result.is_error }
    }
}

impl<'a> Block<'a> {
    fn new(block: &'a ContentBlock) -> Self {
        match block {
            ContentBlock::Image(image) => {
                let source = Source { r#type: "base64", media_type: &image.mime_type, data: &image.data };
                Block::Image { source }
            }
            block => Block::Text { text: block_text(block).unwrap_or_default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelTools;
    use alloc::string::ToString;
    use serde_json::{json, to_value};

    fn converted(result: serde_json::Value) -> serde_json::Value {
        let result: CallToolResult = serde_json::from_value(result).unwrap();
        to_value(ToolResult::new("7", &result)).unwrap()
    }

    #[test]
    fn a_tool_keeps_its_schema() {
        let tool = serde_json::from_value(json!({ "name": "a.b", "inputSchema": { "type": "object" } })).unwrap();
        let tools = ModelTools::new([tool]);
        let expected = json!([{ "name": "a_b", "input_schema": { "type": "object" } }]);
        assert_eq!(to_value(tools.anthropic()).unwrap(), expected);
    }

    #[test]
    fn text_and_images_become_blocks() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let source = json!({ "type": "base64", "media_type": "image/png", "data": "AAAA" });
        let content = json!([{ "type": "text", "text": "a map" }, { "type": "image", "source": source }]);
        assert_eq!(
            converted(json!({ "content": [{ "type": "text", "text": "a map" }, image] })),
            json!({ "type": "tool_result", "tool_use_id": "7", "content": content })
        );
    }

    #[test]
    fn a_failed_result_sets_is_error() {
        assert_eq!(converted(json!({ "content": [], "isError": true }))["is_error"], true);
    }

    #[test]
    fn binary_data_is_omitted() {
        let resource = json!({ "type": "resource", "resource": { "uri": "file:///b", "blob": "QUJD" } });
        let audio = json!({ "type": "audio", "data": "QUJD", "mimeType": "audio/wav" });
        let content = converted(json!({ "content": [resource, audio] }))["content"].to_string();
        assert!(content.contains("[resource file:///b]") && content.contains("[audio, audio/wav]"), "{content}");
        assert!(!content.contains("QUJD"), "{content}");
    }

    #[test]
    fn links_become_text_with_their_uri() {
        let link = json!({ "type": "resource_link", "uri": "file:///a", "name": "a" });
        let text = &converted(json!({ "content": [link] }))["content"][0]["text"];
        assert!(text.as_str().unwrap().contains("file:///a"), "{text}");
    }

    #[test]
    fn a_result_without_content_is_its_json() {
        let text = &converted(json!({ "rows": 3 }))["content"][0]["text"];
        assert_eq!(text, r#"{"rows":3}"#);
    }
}
