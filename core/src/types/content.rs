//! Content blocks: what tools and prompts are made of (2026-07-28, server/tools, "Tool Result").

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use super::kind::Kind;
use super::object::object;
use super::{Extra, Icon};
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};
use crate::json::{Json, Number};

/// One piece of content.
///
/// A block of a type that this version does not know, or one that lacks what its type must have, is
/// [`ContentBlock::Unknown`]: kept as it came, and no harm to its neighbours.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A link to a resource.
    ResourceLink(Box<ResourceLink>),
    /// A resource, embedded.
    Resource(Box<EmbeddedResource>),
    /// Anything else.
    Unknown(UnknownContent),
}

impl ContentBlock {
    /// The type as it stands on the wire.
    pub fn kind(&self) -> &str {
        match self {
            ContentBlock::Text(_) => "text",
            ContentBlock::Image(_) => "image",
            ContentBlock::Audio(_) => "audio",
            ContentBlock::ResourceLink(_) => "resource_link",
            ContentBlock::Resource(_) => "resource",
            ContentBlock::Unknown(unknown) => &unknown.kind,
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

/// Declares the structs of blocks: their own members, then those that all have.
macro_rules! blocks {
    ($( $(#[$meta:meta])* pub struct $Name:ident($kind:literal) { $( $(#[$field_meta:meta])* $field:ident: $ty:ty = $key:literal, )* } )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            /// For whom it is, and how much it matters.
            pub annotations: Option<Box<Annotations>>,
            /// Metadata.
            pub meta: Option<Json>,
            /// Members that this version of the library does not know.
            pub extra: Extra,
        }

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", $kind)?;
                // What was of another type was kept as it came.
                $( if !self.$field.is_absent() && self.extra.get($key).is_none() {
                    map.serialize_entry($key, &self.$field)?;
                } )*
                if let Some(annotations) = &self.annotations {
                    map.serialize_entry("annotations", annotations)?;
                }
                if let Some(meta) = &self.meta {
                    map.serialize_entry("_meta", meta)?;
                }
                for (name, value) in self.extra.iter() {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    )* };
}

/// Whether a member is left out when it is written.
trait Absent {
    fn is_absent(&self) -> bool {
        false
    }
}
impl Absent for String {}
impl Absent for ResourceContents {}
impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
impl<T> Absent for Vec<T> {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

blocks! {
    /// Text, from or for a language model.
    pub struct TextContent("text") {
        /// The text.
        text: String = "text",
    }

    /// A picture.
    pub struct ImageContent("image") {
        /// The picture in base64.
        data: String = "data",
        /// Its media type, such as `image/png`.
        mime_type: String = "mimeType",
    }

    /// Sound.
    pub struct AudioContent("audio") {
        /// The sound in base64.
        data: String = "data",
        /// Its media type, such as `audio/wav`.
        mime_type: String = "mimeType",
    }

    /// A link to a resource that can be read from the same server.
    pub struct ResourceLink("resource_link") {
        /// The address.
        uri: String = "uri",
        /// The name that programs use.
        name: String = "name",
        /// The name that people read.
        title: Option<String> = "title",
        /// What it is.
        description: Option<String> = "description",
        /// Its media type.
        mime_type: Option<String> = "mimeType",
        /// Its size in bytes.
        size: Option<u64> = "size",
        /// Pictures of it.
        icons: Vec<Icon> = "icons",
    }

    /// A resource that comes with the answer.
    pub struct EmbeddedResource("resource") {
        /// Its contents.
        resource: ResourceContents = "resource",
    }
}

impl TextContent {
    /// A block of text.
    pub fn new(text: impl Into<String>) -> Self {
        TextContent { text: text.into(), ..TextContent::default() }
    }
}

/// A block that is none of those that this version knows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownContent {
    /// Its type; empty where it has none.
    pub kind: String,
    /// The block as JSON.
    pub raw: Json,
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentBlock::Text(block) => block.serialize(serializer),
            ContentBlock::Image(block) => block.serialize(serializer),
            ContentBlock::Audio(block) => block.serialize(serializer),
            ContentBlock::ResourceLink(block) => block.serialize(serializer),
            ContentBlock::Resource(block) => block.serialize(serializer),
            ContentBlock::Unknown(block) => block.raw.serialize(serializer),
        }
    }
}

object! {
    /// For whom something is, and how much it matters (2026-07-28, server/resources, "Annotations").
    pub struct Annotations("an object") {
        /// `user`, `assistant` or both.
        or_default audience: Vec<String> = "audience",
        /// From 0, unimportant, to 1, required.
        optional priority: Number = "priority",
        /// When it changed last, as an ISO 8601 time.
        optional last_modified: String = "lastModified",
    }
}

/// The contents of a resource: text or binary.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceContents {
    /// The address.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The contents, if they are text.
    pub text: Option<String>,
    /// The contents in base64, if they are not.
    pub blob: Option<String>,
    /// Metadata.
    pub meta: Option<Json>,
    /// Members that this version of the library does not know.
    pub extra: Extra,
}

/// The members that blocks of any type have. Which of them a block must have is known when its type is, and that may come
/// last.
#[derive(Default)]
struct Members {
    kind: Option<Kind>,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    /// What only resources have.
    rare: Option<Box<Rare>>,
    annotations: Option<Box<Annotations>>,
    meta: Option<Json>,
    extra: Extra,
}

#[derive(Default)]
struct Rare {
    uri: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    size: Option<u64>,
    icons: Option<Vec<Icon>>,
    resource: Option<ResourceContents>,
}

impl FromJson for ContentBlock {
    const EXPECTED: &'static str = "a content block";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut members = Members::default();
        let first = reader.next_byte();
        let start = reader.position();
        if first == Some(b'{') {
            reader.members(&mut |name, reader| members.read(name, reader))?;
        } else {
            reader.raw()?;
        }
        let text = reader.since(start);
        Ok(Ok(members.into_block().unwrap_or_else(|kind| {
            let kind = kind.map(|kind| kind.0.into_owned()).unwrap_or_default();
            ContentBlock::Unknown(UnknownContent { kind, raw: Json::trusted(text) })
        })))
    }
}

from_json::impl_deserialize!(ContentBlock);

impl Members {
    fn read(&mut self, name: &str, reader: &mut Reader<'_>) -> read::Result<()> {
        let extra = &mut self.extra;
        match name {
            "type" => member(&mut self.kind, extra, name, reader),
            "text" => member(&mut self.text, extra, name, reader),
            "data" => member(&mut self.data, extra, name, reader),
            "mimeType" => member(&mut self.mime_type, extra, name, reader),
            "annotations" => member(&mut self.annotations, extra, name, reader),
            "_meta" => member(&mut self.meta, extra, name, reader),
            "uri" | "name" | "title" | "description" | "size" | "icons" | "resource" => {
                let rare = self.rare.get_or_insert_default();
                match name {
                    "uri" => member(&mut rare.uri, extra, name, reader),
                    "name" => member(&mut rare.name, extra, name, reader),
                    "title" => member(&mut rare.title, extra, name, reader),
                    "description" => member(&mut rare.description, extra, name, reader),
                    "size" => member(&mut rare.size, extra, name, reader),
                    "icons" => member(&mut rare.icons, extra, name, reader),
                    _ => member(&mut rare.resource, extra, name, reader),
                }
            }
            _ => extra.keep(name, reader),
        }
    }

    /// The block, or its type where it is none that is known.
    fn into_block(self) -> Result<ContentBlock, Option<Kind>> {
        let Members { kind, text, data, mime_type, rare, annotations, meta, extra } = self;
        let known = kind.as_ref().map_or("", |kind| &*kind.0);
        Ok(match (known, text, data, rare.map(|rare| *rare)) {
            ("text", Some(text), ..) => ContentBlock::Text(TextContent { text, annotations, meta, extra }),
            ("image", _, Some(data), _) => {
                let mime_type = mime_type.unwrap_or_default();
                ContentBlock::Image(ImageContent { data, mime_type, annotations, meta, extra })
            }
            ("audio", _, Some(data), _) => {
                let mime_type = mime_type.unwrap_or_default();
                ContentBlock::Audio(AudioContent { data, mime_type, annotations, meta, extra })
            }
            ("resource_link", _, _, Some(Rare { uri: Some(uri), name, title, description, size, icons, .. })) => {
                let name = name.unwrap_or_else(|| uri.clone());
                let icons = icons.unwrap_or_default();
                ContentBlock::ResourceLink(Box::new(ResourceLink {
                    uri,
                    name,
                    title,
                    description,
                    mime_type,
                    size,
                    icons,
                    annotations,
                    meta,
                    extra,
                }))
            }
            ("resource", _, _, Some(Rare { resource: Some(resource), .. })) => {
                ContentBlock::Resource(Box::new(EmbeddedResource { resource, annotations, meta, extra }))
            }
            _ => return Err(kind),
        })
    }
}

/// Reads a member into its place. What is not of its type is kept under its name; null stands for an absent member.
#[inline(never)]
pub(super) fn member<T: FromJson>(
    place: &mut Option<T>,
    extra: &mut Extra,
    name: &str,
    reader: &mut Reader<'_>,
) -> read::Result<()> {
    reader.next_byte();
    let start = reader.position();
    if let Ok(value) = T::from_json(reader)? {
        *place = Some(value);
    } else {
        keep_unless_null(extra, name, reader.since(start));
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn keep_unless_null(extra: &mut Extra, name: &str, text: &str) {
    if text != "null" {
        extra.push(name, Json::trusted(text));
    }
}
