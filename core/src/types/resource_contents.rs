//! Reading and writing the contents of a resource, text or binary.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::ResourceContents;
use super::lenient::{Hope, Lenient, Mismatch, mismatch};
use super::object::{Found, KeySeed};

enum Key {
    Uri,
    MimeType,
    Text,
    Blob,
    Meta,
}

fn key(name: &str) -> Option<Key> {
    Some(match name {
        "uri" => Key::Uri,
        "mimeType" => Key::MimeType,
        "text" => Key::Text,
        "blob" => Key::Blob,
        "_meta" => Key::Meta,
        _ => return None,
    })
}

impl<'de> Lenient<'de> for ResourceContents {
    const EXPECTED: &'static str = "the contents of a resource";

    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
        deserializer.deserialize_any(ContentsVisitor)
    }
}

struct ContentsVisitor;

impl<'de> Visitor<'de> for ContentsVisitor {
    type Value = Result<ResourceContents, Mismatch>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ResourceContents::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut contents = ResourceContents::default();
        while let Some(found) = map.next_key_seed(KeySeed(key))? {
            match found {
                Found::Known(Key::Uri) => contents.uri = map.next_value_seed(Hope::new())?.unwrap_or_default(),
                Found::Known(Key::MimeType) => contents.mime_type = map.next_value_seed(Hope::new())?.ok(),
                Found::Known(Key::Text) => contents.text = map.next_value_seed(Hope::new())?.ok(),
                Found::Known(Key::Blob) => contents.blob = map.next_value_seed(Hope::new())?.ok(),
                Found::Known(Key::Meta) => contents.meta = map.next_value_seed(Hope::new())?.ok(),
                Found::Unknown(name) => contents.extra.push(name, map.next_value()?),
            }
        }
        Ok(Ok(contents))
    }

    mismatch!(bool number string null array);
}

impl<'de> Deserialize<'de> for ResourceContents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::lenient(deserializer)?.map_err(|mismatch| D::Error::custom(mismatch.reason(Self::EXPECTED)))
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("uri", &self.uri)?;
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
