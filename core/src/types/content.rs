//! Content blocks: what tools and prompts are made of (2026-07-28, server/tools, "Tool Result").

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use super::kind::Kind;
use super::lenient::{OrRaw, scalars};
use super::object::{Found, KeySeed, object};
use super::{Extra, Icon};
use crate::json::Json;

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
                $( if !self.$field.is_absent() { map.serialize_entry($key, &self.$field)?; } )*
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
        optional priority: f64 = "priority",
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

#[derive(Clone, Copy)]
enum Key {
    Kind,
    Text,
    Data,
    Uri,
    Name,
    Title,
    Description,
    MimeType,
    Size,
    Icons,
    Resource,
    Annotations,
    Meta,
}

fn key(name: &str) -> Option<Key> {
    Some(match name {
        "type" => Key::Kind,
        "text" => Key::Text,
        "data" => Key::Data,
        "uri" => Key::Uri,
        "name" => Key::Name,
        "title" => Key::Title,
        "description" => Key::Description,
        "mimeType" => Key::MimeType,
        "size" => Key::Size,
        "icons" => Key::Icons,
        "resource" => Key::Resource,
        "annotations" => Key::Annotations,
        "_meta" => Key::Meta,
        _ => return None,
    })
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BlockVisitor)
    }
}

struct BlockVisitor;

impl<'de> Visitor<'de> for BlockVisitor {
    type Value = ContentBlock;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContentBlock, A::Error> {
        let mut members = Members::default();
        while let Some(found) = map.next_key_seed(KeySeed(key))? {
            /// Reads a member; what is not of its type is kept under its name.
            macro_rules! member {
                ($place:expr, $name:literal) => {
                    match map.next_value::<OrRaw<_>>()?.0 {
                        Ok(value) => $place = Some(value),
                        Err(raw) => members.extra.push($name, raw),
                    }
                };
            }
            match found {
                Found::Known(Key::Kind) => member!(members.kind, "type"),
                Found::Known(Key::Text) => member!(members.text, "text"),
                Found::Known(Key::Data) => member!(members.data, "data"),
                Found::Known(Key::Uri) => member!(members.rare().uri, "uri"),
                Found::Known(Key::Name) => member!(members.rare().name, "name"),
                Found::Known(Key::Title) => member!(members.rare().title, "title"),
                Found::Known(Key::Description) => member!(members.rare().description, "description"),
                Found::Known(Key::MimeType) => member!(members.mime_type, "mimeType"),
                Found::Known(Key::Size) => member!(members.rare().size, "size"),
                Found::Known(Key::Icons) => member!(members.rare().icons, "icons"),
                Found::Known(Key::Resource) => member!(members.rare().resource, "resource"),
                Found::Known(Key::Annotations) => member!(members.annotations, "annotations"),
                Found::Known(Key::Meta) => member!(members.meta, "_meta"),
                Found::Unknown(name) => members.extra.push(name, map.next_value()?),
            }
        }
        // Null stands for an absent member.
        members.extra.drop_nulls(|name| key(name).is_some());
        Ok(members.into_block())
    }

    scalars!(unknown);

    fn visit_unit<E>(self) -> Result<ContentBlock, E> {
        Ok(unknown(Json::default()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ContentBlock, A::Error> {
        let mut elements: Vec<Json> = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(unknown(Json::from_value(&elements).unwrap_or_default()))
    }
}

fn unknown(raw: Json) -> ContentBlock {
    ContentBlock::Unknown(UnknownContent { kind: String::new(), raw })
}

impl Members {
    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    fn into_block(mut self) -> ContentBlock {
        let kind = self.kind.take();
        match kind.as_ref().map(|kind| &*kind.0) {
            Some("text") if self.text.is_some() => {
                let Members { text, annotations, meta, extra, .. } = self;
                ContentBlock::Text(TextContent { text: text.unwrap_or_default(), annotations, meta, extra })
            }
            Some("image") if self.data.is_some() => {
                let Members { data, mime_type, annotations, meta, extra, .. } = self;
                let (data, mime_type) = (data.unwrap_or_default(), mime_type.unwrap_or_default());
                ContentBlock::Image(ImageContent { data, mime_type, annotations, meta, extra })
            }
            Some("audio") if self.data.is_some() => {
                let Members { data, mime_type, annotations, meta, extra, .. } = self;
                let (data, mime_type) = (data.unwrap_or_default(), mime_type.unwrap_or_default());
                ContentBlock::Audio(AudioContent { data, mime_type, annotations, meta, extra })
            }
            Some("resource_link") if self.rare.as_ref().is_some_and(|rare| rare.uri.is_some()) => {
                let Members { rare, mime_type, annotations, meta, extra, .. } = self;
                let Rare { uri, name, title, description, size, icons, .. } = *rare.unwrap_or_default();
                let uri = uri.unwrap_or_default();
                let name = name.unwrap_or_else(|| uri.clone());
                ContentBlock::ResourceLink(Box::new(ResourceLink {
                    uri,
                    name,
                    title,
                    description,
                    mime_type,
                    size,
                    icons: icons.unwrap_or_default(),
                    annotations,
                    meta,
                    extra,
                }))
            }
            Some("resource") if self.rare.as_ref().is_some_and(|rare| rare.resource.is_some()) => {
                let Members { rare, annotations, meta, extra, .. } = self;
                let resource = rare.and_then(|rare| rare.resource).unwrap_or_default();
                ContentBlock::Resource(Box::new(EmbeddedResource { resource, annotations, meta, extra }))
            }
            _ => Members { kind, ..self }.into_unknown(),
        }
    }

    /// The block as JSON again, from its members.
    fn into_unknown(self) -> ContentBlock {
        let rare = self.rare.unwrap_or_default();
        let mut all = Extra::default();
        let mut put = |name: &str, value: Option<Result<Json, crate::JsonError>>| {
            if let Some(Ok(value)) = value {
                all.push(name, value);
            }
        };
        put("type", self.kind.as_ref().map(|kind| Json::from_value(&*kind.0)));
        put("text", self.text.as_ref().map(Json::from_value));
        put("data", self.data.as_ref().map(Json::from_value));
        put("uri", rare.uri.as_ref().map(Json::from_value));
        put("name", rare.name.as_ref().map(Json::from_value));
        put("title", rare.title.as_ref().map(Json::from_value));
        put("description", rare.description.as_ref().map(Json::from_value));
        put("mimeType", self.mime_type.as_ref().map(Json::from_value));
        put("size", rare.size.as_ref().map(Json::from_value));
        put("icons", rare.icons.as_ref().map(Json::from_value));
        put("resource", rare.resource.as_ref().map(Json::from_value));
        put("annotations", self.annotations.as_ref().map(Json::from_value));
        put("_meta", self.meta.map(Ok));
        for (name, value) in self.extra.iter() {
            put(name, Some(Ok(value.clone())));
        }
        let kind = self.kind.map(|kind| kind.0.into_owned());
        ContentBlock::Unknown(UnknownContent { kind: kind.unwrap_or_default(), raw: all.to_json() })
    }
}
