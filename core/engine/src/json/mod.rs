//! JSON: the reader, the writer, [`Json`] for values that are kept as text, and the scanner, which finds members without
//! parsing.

pub(crate) mod append;
mod de;
pub(crate) mod error;
mod float;
pub(crate) mod from_json;
mod lex;
mod number;
pub(crate) mod numeral;
pub(crate) mod path;
pub(crate) mod read;
pub(crate) mod scan;
mod serde_names;
pub(crate) mod serialize;
mod skip;
pub(crate) mod string;
mod transcode;

pub(crate) use de::from_str;
pub use number::Number;
pub(crate) use read::is_json;
use serde_names::SERDE_RAW;

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::excerpt;

/// One JSON value, kept as its original text.
///
/// A `Json` holds what the protocol leaves to servers and programs: the schema of a tool, structured content, `_meta`, content of
/// unknown types. Its syntax is checked once, when the message is read. [`Json::decode`] parses it.
///
/// ```
/// use mcpwire_core::Json;
///
/// let schema = Json::parse(r#"{"type":"object"}"#)?;
/// assert_eq!(schema.get(), r#"{"type":"object"}"#);
/// let value: serde_json::Value = schema.decode()?;
/// assert_eq!(value["type"], "object");
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<str>);

impl Json {
    /// Returns the text. It may contain line breaks between tokens, if the body of an HTTP response or the text given to
    /// [`Json::parse`] did. When the value is sent, each of them is replaced by a space.
    pub fn get(&self) -> &str {
        if self.0.is_empty() { "null" } else { &self.0 }
    }

    /// Checks that a text is one JSON value, and keeps the text without white space around the value.
    pub fn parse(text: impl Into<String>) -> Result<Json, JsonError> {
        let text = text.into();
        let mut reader = read::Reader::new(&text);
        let raw = reader.raw().and_then(|raw| reader.end().map(|()| raw)).map_err(JsonError::new)?;
        if raw.len() == text.len() { Ok(Json::trusted(text)) } else { Ok(Json::trusted(raw)) }
    }

    /// Serializes a value to JSON text on one line.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
        serialize::to_string(value).map(Json::trusted).map_err(JsonError::new)
    }

    /// Deserializes the value.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        from_str(self.get()).map_err(JsonError::new)
    }

    /// Reads a value of any type, including `null`.
    pub(crate) fn read(reader: &mut read::Reader<'_>) -> read::Result<Json> {
        reader.raw().map(Json::trusted)
    }

    /// Returns whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// Deserializes the member `name`. Returns `None` if the value is not an object, has no such member, or the member is of
    /// another type.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.member_text(name).and_then(|text| from_str(text).ok())
    }

    /// Returns the text of the member `name`.
    pub(crate) fn member_text(&self, name: &str) -> Option<&str> {
        let found = scan::members(self.get().as_bytes()).find(|m| m.is(name))?;
        core::str::from_utf8(found.value).ok()
    }

    /// Keeps a text that is known to be JSON.
    pub(crate) fn trusted(text: impl Into<Box<str>>) -> Json {
        Json(text.into())
    }
}

impl scan::Member<'_> {
    /// Returns the value of a member of text that is known to be JSON.
    pub(crate) fn json(&self) -> Json {
        core::str::from_utf8(self.value).map(Json::trusted).unwrap_or_default()
    }
}

impl Default for Json {
    /// Returns `null`. An empty text stands for `null`, so no memory is allocated.
    fn default() -> Json {
        Json::trusted("")
    }
}

impl PartialEq for Json {
    /// Compares the texts: `1.0` differs from `1`, and objects with the same members in another order differ.
    fn eq(&self, other: &Json) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", excerpt(self.get().as_bytes()))
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for Json {
    /// Copies the text if the serializer is that of `serde_json`. Any other serializer gets the value part by part.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !transcode::takes_raw::<S>() {
            return transcode::serialize(self.get(), serializer);
        }
        let mut raw = serializer.serialize_struct(SERDE_RAW, 1)?;
        raw.serialize_field(SERDE_RAW, self.get())?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Copies the text if the deserializer is that of `serde_json`. Any other deserializer must be of a self-describing format;
    /// its value is written as JSON text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        transcode::text_of(deserializer).map(Json::trusted)
    }
}

/// Why a text could not be parsed, or why a value could not be serialized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    message: String,
}

impl JsonError {
    pub(crate) fn new(error: impl fmt::Display) -> Self {
        JsonError { message: alloc::format!("{error}") }
    }
}
