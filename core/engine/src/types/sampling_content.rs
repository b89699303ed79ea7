//! The content of messages in a conversation with a language model, tool calls and their results among it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use serde::ser::{Serialize, SerializeSeq, Serializer};

use super::object::object;
use super::{AudioContent, ContentBlock, ImageContent, TextContent, UnknownContent};
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};

/// The content of a message: one block, or several (from 2025-11-25).
///
/// A single block is written without an array, which all revisions understand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplingContents(pub Vec<SamplingContent>);

impl Deref for SamplingContents {
    type Target = [SamplingContent];

    fn deref(&self) -> &[SamplingContent] {
        &self.0
    }
}

impl From<SamplingContent> for SamplingContents {
    fn from(block: SamplingContent) -> Self {
        SamplingContents(alloc::vec![block])
    }
}

impl From<Vec<SamplingContent>> for SamplingContents {
    fn from(blocks: Vec<SamplingContent>) -> Self {
        SamplingContents(blocks)
    }
}

impl SamplingContents {
    /// Returns the text of the text blocks, joined by newlines.
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

from_json::impl_deserialize!(SamplingContents);

impl Serialize for SamplingContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &**self {
            // A block that is not an object is only read as one of several.
            [SamplingContent::Unknown(block)] if !block.raw.is_object() => {}
            [block] => return block.serialize(serializer),
            _ => {}
        }
        let mut blocks = serializer.serialize_seq(Some(self.len()))?;
        for block in &**self {
            blocks.serialize_element(block)?;
        }
        blocks.end()
    }
}

/// One block of content (`SamplingMessageContentBlock`). A block of an unknown type is kept as it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio.
    Audio(AudioContent),
    /// A call of a tool by the model (from 2025-11-25).
    ToolUse(Box<ToolUseContent>),
    /// The result of such a call (from 2025-11-25).
    ToolResult(Box<ToolResultContent>),
    /// Anything else.
    Unknown(UnknownContent),
}

object! {
    /// A call of a tool by a language model.
    pub struct ToolUseContent("a content block", tag "type" = "tool_use") {
        /// The id of the call, which its result names.
        required id: String = "id",
        /// The name of the tool.
        required name: String = "name",
        /// The arguments, an object.
        always input: Json = "input",
        /// Metadata. Keep it when the conversation goes on.
        optional meta: Json = "_meta",
    }
}

object! {
    /// The result of a tool that a language model called.
    pub struct ToolResultContent("a content block", tag "type" = "tool_result") {
        /// The id of the call: its [`ToolUseContent::id`].
        required tool_use_id: String = "toolUseId",
        /// The content of the result.
        always content: Vec<ContentBlock> = "content",
        /// The result as a value.
        optional structured_content: Json = "structuredContent",
        /// Whether the tool failed.
        or_default is_error: bool = "isError",
        /// Metadata. Keep it when the conversation goes on.
        optional meta: Json = "_meta",
    }
}

impl SamplingContent {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        SamplingContent::Text(TextContent::new(text))
    }

    /// Returns the text of a text block, and `None` for any other block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            SamplingContent::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// Returns the id of the call, if the block is a call of a tool.
    pub fn tool_use_id(&self) -> Option<&str> {
        match self {
            SamplingContent::ToolUse(call) => Some(&call.id),
            _ => None,
        }
    }

    /// Returns the id of the call that is answered, if the block is the result of a tool.
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
        let json = Json::trusted(raw);
        let kind: String = json.member_text("type").and_then(from_json::from_str).unwrap_or_default();
        let known = match &*kind {
            "tool_use" => from_json::from_str(raw).map(SamplingContent::ToolUse),
            "tool_result" => from_json::from_str(raw).map(SamplingContent::ToolResult),
            "text" => from_json::from_str(raw).map(SamplingContent::Text),
            "image" => from_json::from_str(raw).map(SamplingContent::Image),
            "audio" => from_json::from_str(raw).map(SamplingContent::Audio),
            _ => None,
        };
        Ok(Ok(known.unwrap_or(SamplingContent::Unknown(UnknownContent { kind, raw: json }))))
    }
}

from_json::impl_deserialize!(SamplingContent);

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SamplingContent::Text(block) => block.serialize(serializer),
            SamplingContent::Image(block) => block.serialize(serializer),
            SamplingContent::Audio(block) => block.serialize(serializer),
            SamplingContent::ToolUse(block) => block.serialize(serializer),
            SamplingContent::ToolResult(block) => block.serialize(serializer),
            SamplingContent::Unknown(block) => block.raw.serialize(serializer),
        }
    }
}
