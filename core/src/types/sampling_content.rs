//! What is said in a conversation with a language model: one block or several, among them calls of tools and their results.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::object::object;
use super::{AudioContent, ContentBlock, ImageContent, TextContent, UnknownContent};
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};

/// The content of a message: one block, or several (from 2025-11-25). One alone is written as such, which all revisions
/// understand.
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
    /// The text of all blocks of text, each on lines of its own.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.iter().filter_map(SamplingContent::as_text).collect();
        texts.join("\n")
    }
}

impl FromJson for SamplingContents {
    const EXPECTED: &'static str = "a content block, or an array of them";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        match reader.next_byte() {
            Some(b'[') => {
                let mut blocks = Vec::new();
                reader.elements(&mut |reader| {
                    blocks.extend(SamplingContent::from_json(reader)?.ok());
                    Ok(())
                })?;
                Ok(Ok(SamplingContents(blocks)))
            }
            Some(b'{') => Ok(SamplingContent::from_json(reader)?.map(SamplingContents::from)),
            _ => from_json::skip_mismatch(reader).map(Err),
        }
    }
}

from_json::impl_deserialize!(SamplingContents);

impl Serialize for SamplingContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &**self {
            // What is no object is only read as one of several.
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

/// One piece of what is said (`SamplingMessageContentBlock`). What is none that is known is kept as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// The model calls a tool (from 2025-11-25).
    ToolUse(Box<ToolUseContent>),
    /// What came of it (from 2025-11-25).
    ToolResult(Box<ToolResultContent>),
    /// Anything else.
    Unknown(UnknownContent),
}

object! {
    /// A language model calls a tool.
    pub struct ToolUseContent("a content block", tag "type" = "tool_use") {
        /// What its result is matched by.
        required id: String = "id",
        /// The name of the tool.
        required name: String = "name",
        /// The arguments: an object.
        or_blank input: Json = "input",
        /// Metadata; to be kept when the conversation goes on.
        optional meta: Json = "_meta",
    }
}

object! {
    /// What came of a tool that a language model called.
    pub struct ToolResultContent("a content block", tag "type" = "tool_result") {
        /// Which call: its [`ToolUseContent::id`].
        required tool_use_id: String = "toolUseId",
        /// What the tool answered.
        or_blank content: Vec<ContentBlock> = "content",
        /// The same as data.
        optional structured_content: Json = "structuredContent",
        /// The tool failed.
        or_default is_error: bool = "isError",
        /// Metadata; to be kept when the conversation goes on.
        optional meta: Json = "_meta",
    }
}

impl SamplingContent {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        SamplingContent::Text(TextContent::new(text))
    }

    /// The text of a block of text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            SamplingContent::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// The id of the call, if the model calls a tool here.
    pub fn tool_use_id(&self) -> Option<&str> {
        match self {
            SamplingContent::ToolUse(call) => Some(&call.id),
            _ => None,
        }
    }

    /// The id of the call that this is the result of.
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
            "text" | "image" | "audio" => match from_json::from_str(raw) {
                Some(ContentBlock::Text(content)) => Some(SamplingContent::Text(content)),
                Some(ContentBlock::Image(content)) => Some(SamplingContent::Image(content)),
                Some(ContentBlock::Audio(content)) => Some(SamplingContent::Audio(content)),
                _ => None,
            },
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
