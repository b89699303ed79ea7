//! The contents of a resource: text or binary data (`TextResourceContents`, `BlobResourceContents`).

use alloc::string::String;

use serde::ser::{Serialize, SerializeMap, Serializer};

use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::object::{member, read_extra};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Extra, Json};

/// The contents of a resource: text or binary data (`TextResourceContents`, `BlobResourceContents`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[doc(alias("TextResourceContents", "BlobResourceContents"))]
pub struct ResourceContents {
    /// URI of the resource. Empty if the server sent none.
    pub uri: String,
    /// MIME type of the contents. `None` if the server sent none.
    pub mime_type: Option<String>,
    /// The contents as text. `None` if the server sent no text.
    pub text: Option<String>,
    /// The contents as binary data, encoded in base64. `None` if the server sent no binary data.
    pub blob: Option<String>,
    /// Additional metadata of the contents (`_meta`).
    pub meta: Option<Json>,
    /// Members of the JSON object that this version of the library does not define, and members whose value has the
    /// wrong type.
    pub extra: Extra,
}

impl FromJson for ResourceContents {
    const EXPECTED: &'static str = "the contents of a resource";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return from_json::skip_mismatch(reader).map(Err);
        }
        let (mut uri, mut contents) = (None, ResourceContents::default());
        let extra = &mut contents.extra;
        reader.members(&mut |name, reader| match name {
            "uri" => member(&mut uri, extra, name, reader),
            "mimeType" => member(&mut contents.mime_type, extra, name, reader),
            "text" => member(&mut contents.text, extra, name, reader),
            "blob" => member(&mut contents.blob, extra, name, reader),
            "_meta" => member(&mut contents.meta, extra, name, reader),
            _ => read_extra(extra, name, reader),
        })?;
        contents.uri = uri.unwrap_or_default();
        Ok(Ok(contents))
    }
}

mcpwire_text::impl_deserialize!(ResourceContents);

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        // A URI of the wrong type is stored in `extra`, which is serialized below.
        if self.extra.get("uri").is_none() {
            map.serialize_entry("uri", &self.uri)?;
        }
        if let Some(mime_type) = &self.mime_type {
            map.serialize_entry("mimeType", mime_type)?;
        }
        if let Some(text) = &self.text {
            map.serialize_entry("text", text)?;
        }
        if let Some(blob) = &self.blob {
            map.serialize_entry("blob", blob)?;
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
