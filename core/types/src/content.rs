//! Content blocks: the parts of tool results and prompt messages. Specification: server/tools, "Tool Result".

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use serde::Serialize;

use crate::{Annotations, Icon, ResourceContents};
use mcpwire_text::json::from_json::{FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Json, JsonText};
use mcpwire_text::object;
use mcpwire_text::open_enum;

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

/// Implements conversions to an enum of content blocks from texts and from the types of its variants.
macro_rules! from_contents {
    ($Block:ident { $( $Variant:ident($Content:ty), )* }) => {
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
        Text(TextContent),
        Image(ImageContent),
        Audio(AudioContent),
        ResourceLink(ResourceLink),
        Resource(EmbeddedResource),
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

open_enum! {
    /// The member `type` of a content block.
    pub enum ContentKind {
        #[default]
        Text = "text",
        Image = "image",
        Audio = "audio",
        ResourceLink = "resource_link",
        Resource = "resource",
    }
}

object! {
    /// The members of content blocks of all types.
    ///
    /// A block is built after its last member was read, because its type determines which members are required, and
    /// `type` may come last.
    pub struct Members("a content block") {
        [kept] optional kind: ContentKind = "type",
        [kept] optional text: String = "text",
        [kept] optional data: String = "data",
        [kept] optional mime_type: String = "mimeType",
        [kept] optional uri: String = "uri",
        [kept] optional name: String = "name",
        [kept] optional title: String = "title",
        [kept] optional description: String = "description",
        [kept] optional size: u64 = "size",
        [kept] optional icons: Vec<Icon> = "icons",
        [kept] optional resource: Box<ResourceContents> = "resource",
        [kept] optional annotations: Box<Annotations> = "annotations",
        [kept] optional meta: Json = "_meta",
    }
}

impl FromJson for ContentBlock {
    const EXPECTED: &'static str = "a content block";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        reader.next_byte();
        let start = reader.position();
        let mut members = Members::from_json(reader)?.unwrap_or_default();
        Ok(Ok(members.take_block().unwrap_or_else(|| {
            let kind = members.kind.map_or_else(String::new, |kind| kind.as_str().into());
            ContentBlock::Unknown(UnknownContent { kind, raw: Json::trusted(reader.since(start)) })
        })))
    }
}

mcpwire_text::impl_deserialize!(ContentBlock);

impl Members {
    /// Builds the content block from its members, which it takes. Returns `None` if the library cannot interpret the block.
    fn take_block(&mut self) -> Option<ContentBlock> {
        // The members stay where they are, because moving all of them costs more than taking those of the block.
        let (annotations, meta, extra) = (self.annotations.take(), self.meta.take(), mem::take(&mut self.extra));
        Some(match self.kind.as_ref()? {
            ContentKind::Text => TextContent { text: self.text.take()?, annotations, meta, extra }.into(),
            ContentKind::Image => {
                let mime_type = self.mime_type.take().unwrap_or_default();
                ImageContent { data: self.data.take()?, mime_type, annotations, meta, extra }.into()
            }
            ContentKind::Audio => {
                let mime_type = self.mime_type.take().unwrap_or_default();
                AudioContent { data: self.data.take()?, mime_type, annotations, meta, extra }.into()
            }
            ContentKind::ResourceLink => {
                let (title, description, size) = (self.title.take(), self.description.take(), self.size);
                let (mime_type, icons) = (self.mime_type.take(), self.icons.take().unwrap_or_default());
                let uri = self.uri.take()?;
                let name = self.name.take().unwrap_or_else(|| uri.clone());
                let link =
                    ResourceLink { uri, name, title, description, mime_type, size, icons, annotations, meta, extra };
                link.into()
            }
            ContentKind::Resource => {
                EmbeddedResource { resource: *self.resource.take()?, annotations, meta, extra }.into()
            }
            ContentKind::Other(_) => return None,
        })
    }
}
