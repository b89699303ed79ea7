//! Content blocks: the parts of tool results and prompt messages. Specification: server/tools, "Tool Result".

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::{Annotations, Icon, ResourceContents};
use mcpwire_text::json::from_json::{FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Json, JsonText, scan};
use mcpwire_text::object;

/// A content block of a tool result or prompt message: text, an image, audio or a resource.
///
/// A block that the library cannot interpret becomes [`ContentBlock::Unknown`]. The other blocks of the same result or
/// message are not affected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
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
}

impl Default for ContentBlock {
    /// Returns a content block with an empty text.
    fn default() -> ContentBlock {
        ContentBlock::Text(TextContent::default())
    }
}

object! {
    /// Text for or from a language model.
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    pub struct TextContent("a content block of type `text`", tag "type" == "text") {
        /// The text for or from the language model.
        [kept] required text: String = "text",
        /// Hints for clients about the content block, such as its audience and importance. `None` if the server
        /// sent no hints.
        [kept] optional annotations: Box<Annotations> = "annotations",
        /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
        [kept] optional meta: Json = "_meta",
    }
}

object! {
    /// An image in a tool result or prompt message.
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    pub struct ImageContent("a content block of type `image`", tag "type" == "image") {
        /// The image data, encoded in base64.
        [kept] required data: String = "data",
        /// MIME type of the image, such as `image/png`. Empty if the sender sent none.
        [kept] always mime_type: String = "mimeType",
        /// Hints for clients about the content block, such as its audience and importance. `None` if the server
        /// sent no hints.
        [kept] optional annotations: Box<Annotations> = "annotations",
        /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
        [kept] optional meta: Json = "_meta",
    }
}

object! {
    /// Audio data in a tool result or prompt message.
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    pub struct AudioContent("a content block of type `audio`", tag "type" == "audio") {
        /// The audio data, encoded in base64.
        [kept] required data: String = "data",
        /// MIME type of the audio data, such as `audio/wav`. Empty if the sender sent none.
        [kept] always mime_type: String = "mimeType",
        /// Hints for clients about the content block, such as its audience and importance. `None` if the server
        /// sent no hints.
        [kept] optional annotations: Box<Annotations> = "annotations",
        /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
        [kept] optional meta: Json = "_meta",
    }
}

object! {
    /// A link to a resource, which the client can read from the same server.
    ///
    /// The linked resource need not appear in the result of `resources/list`. The field `extra` also contains members
    /// whose value has the wrong type.
    pub struct ResourceLink(
        "a content block of type `resource_link`", tag "type" == "resource_link", finish name_of_link
    ) {
        /// URI of the linked resource, with which the client can read it.
        [kept] required uri: String = "uri",
        /// Name of the linked resource, for use by programs. If the server sent no name, this field contains the URI.
        [kept] always name: String = "name",
        /// Display name of the linked resource. `None` if the server sent none.
        [kept] optional title: String = "title",
        /// Description of the linked resource, which helps language models to understand it. `None` if the server sent
        /// none.
        [kept] optional description: String = "description",
        /// MIME type of the linked resource, such as `text/plain`. `None` if the server sent none.
        [kept] optional mime_type: String = "mimeType",
        /// Size of the linked resource's contents in bytes, before any base64 encoding. `None` if the server sent no
        /// size.
        [kept] optional size: u64 = "size",
        /// Icons to display for the linked resource. Empty if the server sent none.
        [kept] or_default icons: Vec<Icon> = "icons",
        /// Hints for clients about the content block, such as its audience and importance. `None` if the server
        /// sent no hints.
        [kept] optional annotations: Box<Annotations> = "annotations",
        /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
        [kept] optional meta: Json = "_meta",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn name_of_link(mut link: ResourceLink) -> Result<ResourceLink, Mismatch> {
    if link.name.is_empty() {
        link.name.clone_from(&link.uri);
    }
    Ok(link)
}

object! {
    /// A resource that is embedded, with its contents, in a tool result or prompt message.
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    pub struct EmbeddedResource("a content block of type `resource`", tag "type" == "resource") {
        /// The URI and the contents of the embedded resource.
        [kept] required resource: ResourceContents = "resource",
        /// Hints for clients about the content block, such as its audience and importance. `None` if the server
        /// sent no hints.
        [kept] optional annotations: Box<Annotations> = "annotations",
        /// Metadata that the sender attached to the content block (`_meta`). `None` if the sender attached none.
        [kept] optional meta: Json = "_meta",
    }
}

impl ImageContent {
    /// Creates a content block from an image in base64 and the MIME type.
    ///
    /// With the feature `base64`, `from_bytes` encodes the data, `bytes` decodes it, and `data_url` converts it to a
    /// `data:` URL.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        ImageContent { data: data.into(), mime_type: mime_type.into(), ..ImageContent::default() }
    }
}

impl AudioContent {
    /// Creates a content block from audio data in base64 and the MIME type.
    ///
    /// With the feature `base64`, `from_bytes` encodes the data, `bytes` decodes it, and `data_url` converts it to a
    /// `data:` URL.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        AudioContent { data: data.into(), mime_type: mime_type.into(), ..AudioContent::default() }
    }
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

/// Implements conversions to an enum of content blocks from texts, from the types of its variants, and from JSON. A block
/// of another type, or one that is not valid for its type, becomes `Unknown`.
macro_rules! from_contents {
    ($Block:ident { $( $Variant:ident($Content:ty) = $kind:literal, )* }) => {
        impl FromJson for $Block {
            const EXPECTED: &'static str = "a content block";

            fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
                reader.next_byte();
                let start = reader.position();
                // The type is usually the first member, so that looking for it does not read a long text twice.
                let mut kind = kind_of(scan::member(reader.rest().as_bytes(), "type"));
                let mut block = $Block::of_kind(&kind, reader)?;
                let raw = reader.since(start);
                if block.is_none() {
                    // As for any member, the last of several counts.
                    kind = kind_of(scan::last_member(raw.as_bytes(), "type"));
                    block = $Block::of_kind(&kind, &mut Reader::new(raw))?;
                }
                let unknown = || UnknownContent { kind: kind.into_owned(), raw: Json::trusted(raw) };
                Ok(Ok(block.unwrap_or_else(|| $Block::Unknown(unknown()))))
            }
        }

        mcpwire_text::impl_deserialize!($Block);

        impl $Block {
            fn of_kind(kind: &str, reader: &mut Reader<'_>) -> read::Result<Option<Self>> {
                Ok(match kind {
                    $( $kind => <$Content>::from_json(reader)?.ok().map($Block::from), )*
                    _ => {
                        reader.skip()?;
                        None
                    }
                })
            }
        }

        $( impl From<$Content> for $Block {
            fn from(content: $Content) -> Self {
                $Block::$Variant(content.into())
            }
        } )*

        impl From<&str> for $Block {
            /// Creates a content block with this text.
            fn from(text: &str) -> Self {
                $Block::Text(TextContent::new(text))
            }
        }

        impl From<String> for $Block {
            /// Creates a content block with this text.
            fn from(text: String) -> Self {
                $Block::Text(TextContent::new(text))
            }
        }

        impl $Block {
            /// Returns the text of a text block, or `None` for a content block of any other type.
            pub fn as_text(&self) -> Option<&str> {
                match self {
                    $Block::Text(content) => Some(&content.text),
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use from_contents;

from_contents! {
    ContentBlock {
        Text(TextContent) = "text",
        Image(ImageContent) = "image",
        Audio(AudioContent) = "audio",
        ResourceLink(ResourceLink) = "resource_link",
        Resource(EmbeddedResource) = "resource",
    }
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
///
/// The block is serialized as the server sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct UnknownContent {
    /// The `type` member of the content block. Empty if the block is not a JSON object, or if `type` is absent or not a
    /// string.
    #[serde(skip)]
    pub kind: String,
    /// The complete content block as the JSON that the server sent.
    pub raw: Json,
}

/// Returns the type of a content block from the JSON text of its member `type`, or an empty string if the type is absent
/// or not a string.
pub(crate) fn kind_of(value: Option<&[u8]>) -> Cow<'_, str> {
    match value {
        Some([b'"', inner @ .., b'"']) => scan::key_text(inner),
        _ => Cow::default(),
    }
}
