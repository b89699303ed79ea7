//! Content of messages in sampling: text, images, audio, tool calls and tool results.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use serde::{Serialize, Serializer};

use crate::content::from_contents;
use crate::{AudioContent, ContentBlock, ImageContent, TextContent, UnknownContent};
use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Json, JsonText};
use mcpwire_text::object;

/// Content of a sampling message: a list of content blocks. Before protocol revision 2025-11-25, a message has exactly
/// one.
///
/// A single block is serialized as an object instead of an array, because all protocol revisions accept an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingContents(pub Vec<SamplingContent>);

impl Deref for SamplingContents {
    type Target = [SamplingContent];

    fn deref(&self) -> &[SamplingContent] {
        &self.0
    }
}

impl<T: Into<SamplingContent>> From<T> for SamplingContents {
    /// Creates the content of a message with one block.
    fn from(block: T) -> Self {
        SamplingContents(alloc::vec![block.into()])
    }
}

impl From<Vec<SamplingContent>> for SamplingContents {
    fn from(blocks: Vec<SamplingContent>) -> Self {
        SamplingContents(blocks)
    }
}

impl SamplingContents {
    /// Returns the texts of all text blocks of the sampling message, joined by newlines. Blocks of other types are
    /// ignored.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.iter().filter_map(SamplingContent::as_text).collect();
        texts.join("\n")
    }
}

impl FromJson for SamplingContents {
    const EXPECTED: &'static str = "a content block, or an array of them";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        match reader.next_byte() {
            Some(b'[') => Ok(Vec::from_json(reader)?.map(SamplingContents)),
            Some(b'{') => Ok(SamplingContent::from_json(reader)?.map(SamplingContents::from)),
            _ => from_json::skip_mismatch(reader).map(Err),
        }
    }
}

mcpwire_text::impl_deserialize!(SamplingContents);

impl Serialize for SamplingContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &**self {
            // A block that is not an object can be read only within an array.
            [SamplingContent::Unknown(block)] if !block.raw.is_object() => {}
            [block] => return block.serialize(serializer),
            _ => {}
        }
        self.0.serialize(serializer)
    }
}

/// A content block of a sampling message (`SamplingMessageContentBlock`).
///
/// An invalid block, or one of a type that this library does not define, becomes [`SamplingContent::Unknown`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[doc(alias = "SamplingMessageContentBlock")]
pub enum SamplingContent {
    /// A text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// An audio recording.
    Audio(AudioContent),
    /// A tool call that the language model requests (from protocol revision 2025-11-25).
    ToolUse(Box<ToolUseContent>),
    /// The result of a tool call (from protocol revision 2025-11-25).
    ToolResult(Box<ToolResultContent>),
    /// A block of a type that this library does not define, or an invalid block.
    Unknown(UnknownContent),
}

object! {
    /// A tool call that a language model requests.
    pub struct ToolUseContent("a content block", tag "type" == "tool_use") {
        /// Id of the tool call. The result of the call contains it as [`ToolResultContent::tool_use_id`].
        required id: String = "id",
        /// Name of the tool to call.
        required name: String = "name",
        /// Arguments of the tool call, as a JSON object.
        always input: Json = "input",
        /// Additional metadata of the content block (`_meta`). Include it when you send the block to a language model
        /// again: it may help the model's provider to cache the conversation.
        optional meta: Json = "_meta",
    }
}

object! {
    /// The result of a tool call that a language model requested.
    pub struct ToolResultContent("a content block", tag "type" == "tool_result") {
        /// Id of the tool call to which this result belongs ([`ToolUseContent::id`]).
        required tool_use_id: String = "toolUseId",
        /// Unstructured result of the tool, as content blocks.
        always content: Vec<ContentBlock> = "content",
        /// Structured result of the tool: any JSON value. `None` if the tool has no structured result.
        optional structured_content: Json = "structuredContent",
        /// Whether the tool failed. If so, `content` describes the error.
        or_default is_error: bool = "isError",
        /// Additional metadata of the content block (`_meta`). Include it when you send the block to a language model
        /// again: it may help the model's provider to cache the conversation.
        optional meta: Json = "_meta",
    }
}

from_contents! {
    SamplingContent {
        Text(TextContent),
        Image(ImageContent),
        Audio(AudioContent),
        ToolUse(ToolUseContent),
        ToolResult(ToolResultContent),
    }
}

impl SamplingContent {
    /// Creates a content block with this text.
    pub fn text(text: impl Into<String>) -> Self {
        SamplingContent::Text(TextContent::new(text))
    }

    /// Returns the id of a tool call, or `None` if this block is not a tool call.
    pub fn tool_use_id(&self) -> Option<&str> {
        match self {
            SamplingContent::ToolUse(call) => Some(&call.id),
            _ => None,
        }
    }

    /// Returns the id of the tool call that a tool result answers, or `None` if this block is not a tool result.
    pub fn answered_tool_use(&self) -> Option<&str> {
        match self {
            SamplingContent::ToolResult(result) => Some(&result.tool_use_id),
            _ => None,
        }
    }
}

impl FromJson for SamplingContent {
    const EXPECTED: &'static str = "a content block";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        let block = ContentBlock::from_json(&mut Reader::new(raw))?;
        let tool = match block.as_ref().map(ContentBlock::kind) {
            Ok("tool_use") => from_json::from_str(raw).map(SamplingContent::ToolUse),
            Ok("tool_result") => from_json::from_str(raw).map(SamplingContent::ToolResult),
            _ => None,
        };
        Ok(block.map(|block| match (tool, block) {
            (Some(tool), _) => tool,
            (None, ContentBlock::Text(block)) => SamplingContent::Text(block),
            (None, ContentBlock::Image(block)) => SamplingContent::Image(block),
            (None, ContentBlock::Audio(block)) => SamplingContent::Audio(block),
            (None, other) => {
                SamplingContent::Unknown(UnknownContent { kind: other.kind().into(), raw: Json::trusted(raw) })
            }
        }))
    }
}

mcpwire_text::impl_deserialize!(SamplingContent);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_a_message_is_made_of_texts_and_blocks() {
        let text = SamplingContents::from("a");
        assert_eq!(text, SamplingContents::from(String::from("a")));
        assert_eq!(text, SamplingContents::from(SamplingContent::text("a")));
        assert_eq!(text, SamplingContents::from(TextContent::from("a")));
        assert_eq!(text, SamplingContents::from(alloc::vec![SamplingContent::from("a")]));
        let image = ImageContent::new("AAAA", "image/png");
        assert_eq!(*SamplingContents::from(image.clone()), [SamplingContent::Image(image.clone())]);
        assert_eq!(ContentBlock::from(image.clone()), ContentBlock::Image(image));
        assert_eq!(ContentBlock::from("a"), ContentBlock::from(TextContent::from(String::from("a"))));
    }
}
