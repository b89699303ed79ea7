//! Reading the answer of a tool, of whatever shape it is.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{CallToolResult, ContentBlock, Extra};
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, ReadError, Reader};
use crate::text::excerpt;

impl FromJson for CallToolResult {
    const EXPECTED: &'static str = "the result of a tool";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return Ok(match reader.raw()? {
                "null" => Err(Mismatch::Type("null")),
                text => Ok(bare(Json::trusted(text))),
            });
        }
        let mut result = CallToolResult::default();
        let (mut is_error, mut kind) = (None, None::<String>);
        let mut content = Content::Absent;
        reader.members(&mut |name, reader| match name {
            "content" => content.read(reader),
            "structuredContent" => from_json::optional_member(&mut result.structured_content, reader),
            "isError" => from_json::optional_member(&mut is_error, reader),
            "_meta" => from_json::optional_member(&mut result.meta, reader),
            "resultType" => from_json::optional_member(&mut kind, reader).and_then(|()| complete(kind.as_deref())),
            _ => result.extra.keep(name, reader),
        })?;
        result.is_error = is_error.unwrap_or(false);
        match content {
            Content::Blocks(blocks) => result.content = blocks,
            Content::Other(raw) => result.without_content = Some(whole(&result, Some(raw))),
            Content::Absent => result.without_content = Some(whole(&result, None)),
        }
        Ok(Ok(result))
    }
}

fn complete(kind: Option<&str>) -> read::Result<()> {
    match kind {
        None | Some("complete") => Ok(()),
        Some(other) => Err(undeclared(other)),
    }
}

#[cold]
fn undeclared(kind: &str) -> ReadError {
    let kind = excerpt(kind.as_bytes());
    ReadError::new(alloc::format!("a result of type {kind:?}, which was not declared as understood"))
}

from_json::impl_deserialize!(CallToolResult);

/// A result that is a bare value: not what the specification says, and still all that the tool answered.
fn bare(value: Json) -> CallToolResult {
    CallToolResult { without_content: Some(value), ..CallToolResult::default() }
}

/// The result as one value, from its members.
fn whole(result: &CallToolResult, content: Option<Json>) -> Json {
    let mut members = Extra::default();
    if let Some(content) = content {
        members.push("content", content);
    }
    if let Some(structured) = &result.structured_content {
        members.push("structuredContent", structured.clone());
    }
    if result.is_error {
        members.push("isError", Json::trusted("true"));
    }
    for (name, value) in result.extra.iter() {
        members.push(name, value.clone());
    }
    members.to_json()
}

impl Serialize for CallToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(whole) = &self.without_content {
            return whole.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(structured) = &self.structured_content {
            map.serialize_entry("structuredContent", structured)?;
        }
        map.serialize_entry("isError", &self.is_error)?;
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        for (name, value) in self.extra.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

enum Content {
    Absent,
    Blocks(Vec<ContentBlock>),
    /// It is no array: kept in case there is none, and the result as a whole is all there is.
    Other(Json),
}

impl Content {
    fn read(&mut self, reader: &mut Reader<'_>) -> read::Result<()> {
        if reader.next_byte() != Some(b'[') {
            let raw = reader.raw()?;
            if raw != "null" && !matches!(self, Content::Blocks(_)) {
                *self = Content::Other(Json::trusted(raw));
            }
            return Ok(());
        }
        // Most answers are one block.
        let mut blocks = Vec::with_capacity(1);
        reader.elements(&mut |reader| {
            if let Ok(block) = ContentBlock::from_json(reader)? {
                blocks.push(block);
            }
            Ok(())
        })?;
        *self = Content::Blocks(blocks);
        Ok(())
    }
}
