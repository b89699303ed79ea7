//! Reading the answer of a tool, of whatever shape it is.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use super::lenient::{Hope, scalars};
use super::object::{Found, KeySeed};
use super::{CallToolResult, ContentBlock, Extra};
use crate::json::Json;
use crate::text::excerpt;

enum Key {
    Content,
    StructuredContent,
    IsError,
    Meta,
    ResultType,
}

fn key(name: &str) -> Option<Key> {
    Some(match name {
        "content" => Key::Content,
        "structuredContent" => Key::StructuredContent,
        "isError" => Key::IsError,
        "_meta" => Key::Meta,
        "resultType" => Key::ResultType,
        _ => return None,
    })
}

impl<'de> Deserialize<'de> for CallToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ResultVisitor)
    }
}

struct ResultVisitor;

impl<'de> Visitor<'de> for ResultVisitor {
    type Value = CallToolResult;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the result of a tool")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CallToolResult, A::Error> {
        let mut result = CallToolResult::default();
        let mut content = None;
        // What is kept in case there is no content, and the result as a whole is all there is.
        let mut misfit: Option<Json> = None;
        while let Some(found) = map.next_key_seed(KeySeed(key))? {
            match found {
                Found::Known(Key::Content) => match map.next_value::<Content>()? {
                    Content::Blocks(blocks) => content = Some(blocks),
                    Content::Other(raw) => misfit = Some(raw),
                },
                Found::Known(Key::StructuredContent) => {
                    result.structured_content = map.next_value_seed(Hope::<Json>::new())?.ok();
                }
                Found::Known(Key::IsError) => {
                    result.is_error = map.next_value_seed(Hope::<bool>::new())?.unwrap_or(false);
                }
                Found::Known(Key::Meta) => result.meta = map.next_value_seed(Hope::<Json>::new())?.ok(),
                Found::Known(Key::ResultType) => match map.next_value_seed(Hope::<String>::new())? {
                    Ok(kind) if kind != "complete" => {
                        let kind = excerpt(kind.as_bytes());
                        let what = alloc::format!("a result of type {kind:?}, which was not declared as understood");
                        return Err(A::Error::custom(what));
                    }
                    _ => {}
                },
                Found::Unknown(name) => result.extra.push(name, map.next_value()?),
            }
        }
        match content {
            Some(blocks) => result.content = blocks,
            None => result.without_content = Some(whole(&result, misfit)),
        }
        Ok(result)
    }

    scalars!(bare);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CallToolResult, A::Error> {
        let mut elements: Vec<Json> = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(bare(Json::from_value(&elements).unwrap_or_default()))
    }
}

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
    Blocks(Vec<ContentBlock>),
    Other(Json),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;
        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("content")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                // Most answers are one block.
                let mut blocks = Vec::with_capacity(1);
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
                let mut members = Extra::default();
                while let Some((name, value)) = map.next_entry::<String, Json>()? {
                    members.push(name, value);
                }
                Ok(Content::Other(members.to_json()))
            }

            scalars!(Content::Other);

            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::Other(Json::default()))
            }
        }
        deserializer.deserialize_any(ContentVisitor)
    }
}
