//! Content blocks, of which the results of tools and prompts are made (2026-07-28, server/tools, "Tool Result").

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::object::{member, object};
use super::{Extra, Icon, ResourceContents};
use crate::json::from_json::{self, FromJson, Mismatch, type_mismatch};
use crate::json::read::{self, Reader};
use crate::json::scan::key_text;
use crate::json::{Json, Number};

/// One block of content.
///
/// A block of a type that this version does not know, or without a member that its type requires, is
/// [`ContentBlock::Unknown`]. It is kept as it is and does no harm to its neighbours.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio.
    Audio(AudioContent),
    /// A link to a resource.
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
    /// Anything else.
    Unknown(UnknownContent),
}

impl ContentBlock {
    /// Returns the type of the block as the protocol writes it. It is empty for an unknown block without a type.
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

    /// Returns the text of a text block, and `None` for any other block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl Default for ContentBlock {
    /// A block of empty text.
    fn default() -> ContentBlock {
        ContentBlock::Text(TextContent::default())
    }
}

impl From<&str> for ContentBlock {
    /// A block of text.
    fn from(text: &str) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }
}

impl From<String> for ContentBlock {
    /// A block of text.
    fn from(text: String) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }
}

/// Declares the types of blocks: members of their own, then those that all blocks have.
macro_rules! blocks {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident($Variant:ident = $kind:literal) {
            $( $(#[$field_meta:meta])* $field:ident: $ty:ty = $key:literal, )*
        }
    )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $ty, )*
            /// For whom the block is, and how important it is.
            pub annotations: Option<Box<Annotations>>,
            /// Metadata.
            pub meta: Option<Json>,
            /// Members that this version of the library does not know.
            pub extra: Extra,
        }

        impl FromJson for $Name {
            const EXPECTED: &'static str = concat!("a content block of type `", $kind, "`");

            fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
                if reader.next_byte() != Some(b'{') {
                    return from_json::skip_mismatch(reader).map(Err);
                }
                let mut members = Members::default();
                reader.members(&mut |name, reader| members.read(name, reader))?;
                members.kind.get_or_insert(Kind(Cow::Borrowed($kind)));
                Ok(match members.into_block() {
                    Ok(ContentBlock::$Variant(block)) => Ok(Unboxed::unboxed(block)),
                    _ => Err(Mismatch::Object { reason: concat!("not a content block of type `", $kind, "`").into(), name: None }),
                })
            }
        }

        from_json::impl_deserialize!($Name);

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", $kind)?;
                // A member of another type was kept among the unknown ones.
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

/// A block that is behind a pointer in [`ContentBlock`], or is not.
trait Unboxed<T> {
    fn unboxed(self) -> T;
}
impl<T> Unboxed<T> for T {
    fn unboxed(self) -> T {
        self
    }
}
impl<T> Unboxed<T> for Box<T> {
    fn unboxed(self) -> T {
        *self
    }
}

/// Whether a member is left out when its block is written.
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
    pub struct TextContent(Text = "text") {
        /// The text.
        text: String = "text",
    }

    /// An image.
    pub struct ImageContent(Image = "image") {
        /// The image in base64.
        data: String = "data",
        /// The media type, such as `image/png`.
        mime_type: String = "mimeType",
    }

    /// Audio.
    pub struct AudioContent(Audio = "audio") {
        /// The audio in base64.
        data: String = "data",
        /// The media type, such as `audio/wav`.
        mime_type: String = "mimeType",
    }

    /// A link to a resource that can be read from the same server.
    pub struct ResourceLink(ResourceLink = "resource_link") {
        /// The URI.
        uri: String = "uri",
        /// The name for programs. A link without one has its URI here.
        name: String = "name",
        /// The name to show to people.
        title: Option<String> = "title",
        /// What the resource is.
        description: Option<String> = "description",
        /// The media type.
        mime_type: Option<String> = "mimeType",
        /// The size in bytes.
        size: Option<u64> = "size",
        /// Icons of the resource.
        icons: Vec<Icon> = "icons",
    }

    /// A resource whose contents come with the result.
    pub struct EmbeddedResource(Resource = "resource") {
        /// The contents.
        resource: ResourceContents = "resource",
    }
}

impl TextContent {
    /// A block of text.
    pub fn new(text: impl Into<String>) -> Self {
        TextContent { text: text.into(), ..TextContent::default() }
    }
}

/// A block that is of none of the types that this version knows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownContent {
    /// The type of the block; empty if it has none.
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
    /// For whom a block or resource is, and how important it is (2026-07-28, server/resources, "Annotations").
    pub struct Annotations("an object") {
        /// `user`, `assistant` or both.
        or_default audience: Vec<String> = "audience",
        /// The importance, from 0 (least) to 1 (required).
        optional priority: Number = "priority",
        /// When it was last modified, as an ISO 8601 time.
        optional last_modified: String = "lastModified",
    }
}

/// The members that blocks of any type have. The type decides which of them a block must have, and it may come last.
#[derive(Default)]
struct Members {
    kind: Option<Kind>,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    /// The members that only resources have.
    of_resource: Option<Box<ResourceMembers>>,
    annotations: Option<Box<Annotations>>,
    meta: Option<Json>,
    extra: Extra,
}

#[derive(Default)]
struct ResourceMembers {
    uri: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    size: Option<u64>,
    icons: Option<Vec<Icon>>,
    resource: Option<ResourceContents>,
}

/// The type of a block. The known types take no memory.
struct Kind(Cow<'static, str>);

impl FromJson for Kind {
    const EXPECTED: &'static str = "a string";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        const KNOWN: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];
        let raw = reader.raw()?;
        let Some(inside) = raw.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) else {
            return Ok(Err(type_mismatch(raw)));
        };
        Ok(Ok(Kind(match KNOWN.iter().find(|known| **known == inside) {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(key_text(inside.as_bytes()).into_owned()),
        })))
    }
}

impl FromJson for ContentBlock {
    const EXPECTED: &'static str = "a content block";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut members = Members::default();
        let is_object = reader.next_byte() == Some(b'{');
        let start = reader.position();
        if is_object {
            reader.members(&mut |name, reader| members.read(name, reader))?;
        } else {
            reader.skip()?;
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
                let members = self.of_resource.get_or_insert_default();
                match name {
                    "uri" => member(&mut members.uri, extra, name, reader),
                    "name" => member(&mut members.name, extra, name, reader),
                    "title" => member(&mut members.title, extra, name, reader),
                    "description" => member(&mut members.description, extra, name, reader),
                    "size" => member(&mut members.size, extra, name, reader),
                    "icons" => member(&mut members.icons, extra, name, reader),
                    _ => member(&mut members.resource, extra, name, reader),
                }
            }
            _ => extra.read(name, reader),
        }
    }

    /// Returns the block, or its type if the members do not make a block of a known type.
    fn into_block(self) -> Result<ContentBlock, Option<Kind>> {
        let Members { kind, text, data, mime_type, of_resource, annotations, meta, extra } = self;
        let known = kind.as_ref().map_or("", |kind| &*kind.0);
        Ok(match (known, text, data, of_resource.map(|members| *members)) {
            ("text", Some(text), ..) => ContentBlock::Text(TextContent { text, annotations, meta, extra }),
            ("image", _, Some(data), _) => {
                let mime_type = mime_type.unwrap_or_default();
                ContentBlock::Image(ImageContent { data, mime_type, annotations, meta, extra })
            }
            ("audio", _, Some(data), _) => {
                let mime_type = mime_type.unwrap_or_default();
                ContentBlock::Audio(AudioContent { data, mime_type, annotations, meta, extra })
            }
            (
                "resource_link",
                _,
                _,
                Some(ResourceMembers { uri: Some(uri), name, title, description, size, icons, .. }),
            ) => {
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
            ("resource", _, _, Some(ResourceMembers { resource: Some(resource), .. })) => {
                ContentBlock::Resource(Box::new(EmbeddedResource { resource, annotations, meta, extra }))
            }
            _ => return Err(kind),
        })
    }
}
