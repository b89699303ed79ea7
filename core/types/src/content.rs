//! Content blocks: the parts of tool results and prompt messages. Specification: server/tools, "Tool Result".

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::{Icon, ResourceContents};
use mcpwire_text::json::from_json::{self, FromJson, Mismatch, type_mismatch};
use mcpwire_text::json::object::{member, read_extra};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::scan::key_text;
use mcpwire_text::json::{Extra, Json, JsonText, Number};
use mcpwire_text::object;

/// A content block of a tool result or prompt message: text, an image, audio or a resource.
///
/// A block that the library cannot interpret becomes [`ContentBlock::Unknown`]. The other blocks of the same result or
/// message are not affected.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// A text for or from a language model.
    Text(TextContent),
    /// An image, encoded in base64.
    Image(ImageContent),
    /// Audio data, encoded in base64.
    Audio(AudioContent),
    /// A link to a resource, which the client can read from the same server.
    ResourceLink(Box<ResourceLink>),
    /// A resource whose contents are embedded in the tool result or prompt message.
    Resource(Box<EmbeddedResource>),
    /// A content block that the library cannot interpret. [`UnknownContent`] lists the possible reasons.
    Unknown(UnknownContent),
}

impl ContentBlock {
    /// Returns the type of this content block as in its JSON, such as `resource_link`.
    ///
    /// Returns an empty string for an unknown block without a type.
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

    /// Returns the text of a text block, or `None` for a content block of any other type.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            ContentBlock::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl Default for ContentBlock {
    /// Returns a content block with an empty text.
    fn default() -> ContentBlock {
        ContentBlock::Text(TextContent::default())
    }
}

impl From<&str> for ContentBlock {
    /// Creates a content block with this text.
    fn from(text: &str) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }
}

impl From<String> for ContentBlock {
    /// Creates a content block with this text.
    fn from(text: String) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }
}

/// Declares a struct for each type of content block, with the listed fields and the common fields `annotations`, `meta`
/// and `extra`.
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
            /// Hints for clients about the content block, such as its audience and importance. `None` if the server
            /// sent no hints.
            pub annotations: Option<Box<Annotations>>,
            /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
            pub meta: Option<Json>,
            /// Members of the content block that this version of the library does not define, and members with a value
            /// of the wrong type.
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
                members.kind.get_or_insert(ContentKind(Cow::Borrowed($kind)));
                Ok(match members.into_block() {
                    Ok(ContentBlock::$Variant(block)) => Ok(Unboxed::unboxed(block)),
                    _ => Err(Mismatch::object(concat!("not a content block of type `", $kind, "`"))),
                })
            }
        }

        mcpwire_text::impl_deserialize!($Name);

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", $kind)?;
                // A value of the wrong type is stored in `extra`, which is written below.
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

/// Lets the macro `blocks!` use the same code for variants of [`ContentBlock`] with and without a `Box`.
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
    /// Text for or from a language model.
    pub struct TextContent(Text = "text") {
        /// The text for or from the language model.
        text: String = "text",
    }

    /// An image in a tool result or prompt message.
    pub struct ImageContent(Image = "image") {
        /// The image data, encoded in base64.
        data: String = "data",
        /// MIME type of the image, such as `image/png`. Empty if the sender sent none.
        mime_type: String = "mimeType",
    }

    /// Audio data in a tool result or prompt message.
    pub struct AudioContent(Audio = "audio") {
        /// The audio data, encoded in base64.
        data: String = "data",
        /// MIME type of the audio data, such as `audio/wav`. Empty if the sender sent none.
        mime_type: String = "mimeType",
    }

    /// A link to a resource, which the client can read from the same server.
    ///
    /// The linked resource need not appear in the result of `resources/list`.
    pub struct ResourceLink(ResourceLink = "resource_link") {
        /// URI of the linked resource, with which the client can read it.
        uri: String = "uri",
        /// Name of the linked resource, for use by programs. If the server sent no name, this field contains the URI.
        name: String = "name",
        /// Display name of the linked resource. `None` if the server sent none.
        title: Option<String> = "title",
        /// Description of the linked resource, which helps language models to understand it. `None` if the server sent
        /// none.
        description: Option<String> = "description",
        /// MIME type of the linked resource, such as `text/plain`. `None` if the server sent none.
        mime_type: Option<String> = "mimeType",
        /// Size of the linked resource's contents in bytes, before any base64 encoding. `None` if the server sent no
        /// size.
        size: Option<u64> = "size",
        /// Icons to display for the linked resource. Empty if the server sent none.
        icons: Vec<Icon> = "icons",
    }

    /// A resource that is embedded, with its contents, in a tool result or prompt message.
    pub struct EmbeddedResource(Resource = "resource") {
        /// The URI and the contents of the embedded resource.
        resource: ResourceContents = "resource",
    }
}

macro_rules! media {
    ($( $Name:ident, $data:literal; )*) => { $(
        impl $Name {
            #[doc = concat!("Creates a content block from ", $data, " in base64 and the MIME type.")]
            ///
            /// With the feature `base64`, `from_bytes` encodes the data, `bytes` decodes it, and `data_url` converts
            /// it to a `data:` URL.
            pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
                $Name { data: data.into(), mime_type: mime_type.into(), ..$Name::default() }
            }
        }
    )* };
}

media! {
    ImageContent, "an image";
    AudioContent, "audio data";
}

impl From<&str> for TextContent {
    fn from(text: &str) -> TextContent {
        TextContent::new(text)
    }
}

impl From<String> for TextContent {
    fn from(text: String) -> TextContent {
        TextContent::new(text)
    }
}

/// Implements conversions to [`ContentBlock`] from the types of its variants.
macro_rules! from_contents {
    ($( $Variant:ident($Content:ty); )*) => { $(
        impl From<$Content> for ContentBlock {
            fn from(content: $Content) -> ContentBlock {
                ContentBlock::$Variant(content.into())
            }
        }
    )* };
}

from_contents! {
    Text(TextContent);
    Image(ImageContent);
    Audio(AudioContent);
    ResourceLink(ResourceLink);
    Resource(EmbeddedResource);
}

impl TextContent {
    /// Creates a content block with this text.
    pub fn new(text: impl Into<String>) -> Self {
        TextContent { text: text.into(), ..TextContent::default() }
    }
}

/// A content block that the library cannot interpret, for one of three reasons:
/// - The block is not a JSON object.
/// - The member `type` is absent or not a string, or this version of the library does not define the type.
/// - A member that the type requires is absent or has the wrong JSON type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownContent {
    /// The `type` member of the content block. Empty if the block is not a JSON object, or if `type` is absent or not a
    /// string.
    pub kind: String,
    /// The complete content block as the JSON that the server sent.
    pub raw: Json,
}

impl Serialize for UnknownContent {
    /// Serializes the block as the server sent it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentBlock::Text(block) => block.serialize(serializer),
            ContentBlock::Image(block) => block.serialize(serializer),
            ContentBlock::Audio(block) => block.serialize(serializer),
            ContentBlock::ResourceLink(block) => block.serialize(serializer),
            ContentBlock::Resource(block) => block.serialize(serializer),
            ContentBlock::Unknown(block) => block.serialize(serializer),
        }
    }
}

object! {
    /// Hints for clients about a content block or resource, such as for whom it is and how important it is.
    ///
    /// Specification: server/resources, "Annotations".
    pub struct Annotations("an object") {
        /// For whom the content block or resource is intended: `user`, `assistant` or both. Empty if the server sent no
        /// audience.
        or_default audience: Vec<String> = "audience",
        /// Importance of the content block or resource, from 0 (entirely optional) to 1 (required). `None` if the
        /// server sent none.
        optional priority: Number = "priority",
        /// Time at which the resource was last modified, in ISO 8601 notation, such as `2025-01-12T15:00:58Z`. `None`
        /// if the server sent none.
        optional last_modified: String = "lastModified",
    }
}

/// The members of a content block that is being parsed.
///
/// The block is built after its last member has been parsed, because its type determines which members are required,
/// and `type` may come last.
#[derive(Default)]
struct Members {
    kind: Option<ContentKind>,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    /// Boxed to keep this struct small, because only blocks of type `resource_link` and `resource` have these members.
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

/// The `type` member of a content block, borrowed if the library defines the type, so that only unknown types allocate
/// memory.
struct ContentKind(Cow<'static, str>);

impl FromJson for ContentKind {
    const EXPECTED: &'static str = "a string";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        const KNOWN: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];
        let raw = reader.raw()?;
        let Some(inside) = raw.strip_prefix('"').and_then(|inside| inside.strip_suffix('"')) else {
            return Ok(Err(type_mismatch(raw)));
        };
        Ok(Ok(ContentKind(match KNOWN.iter().find(|known| **known == inside) {
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

mcpwire_text::impl_deserialize!(ContentBlock);

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
            _ => read_extra(extra, name, reader),
        }
    }

    /// Builds the content block from its members, or returns the `type` member if the library cannot interpret the
    /// block.
    fn into_block(self) -> Result<ContentBlock, Option<ContentKind>> {
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
