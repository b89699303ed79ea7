//! Converts tool definitions and tool results to the format of OpenAI's Chat Completions API, which many other APIs
//! also accept.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_types::{CallToolResult, ContentBlock, ImageContent, Json, Tool};
use serde::Serialize;

use crate::text::block_text;

/// A tool definition, as an element of `tools` in a request:
/// `{"type":"function","function":{"name":..,"description":..,"parameters":..}}`.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionTool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Clone, Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: &'a Json,
}

impl<'a> FunctionTool<'a> {
    /// Converts an MCP tool to the format of OpenAI's API. `name` is the name that the model sees: see
    /// [`ModelTools`](crate::ModelTools).
    pub fn new(name: &'a str, tool: &'a Tool) -> Self {
        let description = tool.description.as_deref();
        FunctionTool { r#type: "function", function: Function { name, description, parameters: &tool.input_schema } }
    }
}

/// A message that returns a tool result to the model, as an element of `messages` in a request.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Message<'a> {
    /// The text of a tool result: `{"role":"tool","tool_call_id":..,"content":..}`.
    Tool {
        /// The role of the message, always `tool`.
        role: &'static str,
        /// The `id` of the model's tool call that this message answers.
        tool_call_id: &'a str,
        /// The text of the tool result.
        content: String,
    },
    /// The images of a tool result. They need a message with the role `user`, because messages with the role `tool` can
    /// contain only text.
    User {
        /// The role of the message, always `user`.
        role: &'static str,
        /// A text with the id of the tool call, followed by the images.
        content: Vec<Part>,
    },
}

/// A part of the content of a [`Message::User`]: a text or an image.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// A text, for example with the id of the tool call.
    Text {
        /// The text of this part.
        text: String,
    },
    /// An image, whose data is in a `data:` URL.
    ImageUrl {
        /// The `data:` URL of the image.
        image_url: ImageUrl,
    },
}

/// The URL of an image. It is a `data:` URL that contains the image.
#[derive(Clone, Debug, Serialize)]
pub struct ImageUrl {
    url: String,
}

impl ImageUrl {
    fn new(image: &ImageContent) -> Self {
        ImageUrl { url: format!("data:{};base64,{}", image.mime_type, image.data) }
    }
}

/// Converts the result of an MCP tool to the messages that answer the model's tool call `tool_call_id`.
///
/// Returns a message with the role `tool` for the text and, if there are images, a message with the role `user`. If the
/// model made several tool calls in one turn, add all `tool` messages before the `user` messages. The API requires the
/// `tool` messages directly after the model's message.
pub fn messages<'a>(tool_call_id: &'a str, result: &CallToolResult) -> Vec<Message<'a>> {
    let text = if result.content.is_empty() {
        result.text().into_string()
    } else {
        result.content.iter().filter_map(block_text).collect::<Vec<_>>().join("\n")
    };
    let content = if result.is_error { format!("Error: {text}") } else { text };
    let mut messages = Vec::from([Message::Tool { role: "tool", tool_call_id, content }]);
    let mut parts: Vec<Part> = images(result).map(|image| Part::ImageUrl { image_url: ImageUrl::new(image) }).collect();
    if !parts.is_empty() {
        parts.insert(0, Part::Text { text: format!("Images of the result of {tool_call_id}:") });
        messages.push(Message::User { role: "user", content: parts });
    }
    messages
}

fn images(result: &CallToolResult) -> impl Iterator<Item = &ImageContent> {
    result.content.iter().filter_map(|block| match block {
        ContentBlock::Image(image) => Some(image),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelTools;
    use serde_json::{json, to_value};

    fn result(json: serde_json::Value) -> CallToolResult {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_tool_becomes_a_function() {
        let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
        let tool = serde_json::from_value(json!({ "name": "weather", "description": "d", "inputSchema": schema }));
        let tools = ModelTools::new([tool.unwrap()]);
        let function = json!({ "name": "weather", "description": "d", "parameters": schema });
        assert_eq!(to_value(tools.openai()).unwrap(), json!([{ "type": "function", "function": function }]));
    }

    #[test]
    fn a_result_becomes_a_tool_message() {
        let result = result(json!({ "content": [{ "type": "text", "text": "sunny" }] }));
        let expected = json!([{ "role": "tool", "tool_call_id": "1", "content": "sunny" }]);
        assert_eq!(to_value(messages("1", &result)).unwrap(), expected);
    }

    #[test]
    fn the_text_of_a_failed_result_begins_with_error() {
        let result = result(json!({ "content": [{ "type": "text", "text": "no city" }], "isError": true }));
        assert_eq!(to_value(messages("1", &result)).unwrap()[0]["content"], "Error: no city");
    }

    #[test]
    fn images_follow_in_a_user_message() {
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let result = result(json!({ "content": [{ "type": "text", "text": "a map" }, image] }));
        let user = &to_value(messages("1", &result)).unwrap()[1];
        assert_eq!(user["role"], "user");
        assert_eq!(user["content"][1]["type"], "image_url");
        assert_eq!(user["content"][1]["image_url"]["url"], "data:image/png;base64,AAAA");
    }
}
