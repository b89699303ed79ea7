//! JSON: the reader, the writer, the opaque parts of messages, and the scanner that finds its way in a message without parsing it.

pub(crate) mod append;
mod de;
pub(crate) mod error;
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
use core::mem::{self, ManuallyDrop};

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::excerpt;

/// One JSON value, kept as the text it came in.
///
/// The parts of the protocol that belong to others (a tool's schema, structured content, `_meta`, unknown blocks) are
/// checked to be JSON once, when the message is read, and parsed only when someone asks.
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
pub struct Json(ManuallyDrop<Box<str>>);

/// Most types of the protocol have some. Dropped by one function, they make the drops of those, of which a program has many
/// copies, small.
impl Drop for Json {
    #[inline]
    fn drop(&mut self) {
        free(self);
    }
}

/// Functions of this kind are known not to unwind: around their calls there is nothing to be cleaned up.
#[inline(never)]
extern "C" fn free(json: &mut Json) {
    drop(mem::take(&mut *json.0));
}

impl Json {
    /// The text. It has no line breaks unless the text given to [`Json::parse`] had some.
    pub fn get(&self) -> &str {
        if self.0.is_empty() { "null" } else { &self.0 }
    }

    fn of(text: impl Into<Box<str>>) -> Json {
        Json(ManuallyDrop::new(text.into()))
    }

    /// Takes a text that must be one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Json, JsonError> {
        let text = text.into();
        let mut reader = read::Reader::new(&text);
        let raw = reader.raw().and_then(|raw| reader.end().map(|()| raw)).map_err(JsonError::new)?;
        if raw.len() == text.len() { Ok(Json::of(text)) } else { Ok(Json::of(raw)) }
    }

    /// The JSON text of any value that serialises, on one line.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
        serialize::to_string(value).map(Json::of).map_err(JsonError::new)
    }

    /// Reads the text into a type of the caller's.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        from_str(self.get()).map_err(JsonError::new)
    }

    /// Reads a value of any type, `null` included.
    pub(crate) fn read(reader: &mut read::Reader<'_>) -> read::Result<Json> {
        reader.raw().map(Json::trusted)
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// The member `name` of an object, if this is one and has it.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.member_text(name).and_then(|text| from_str(text).ok())
    }

    /// The text of that member.
    pub(crate) fn member_text(&self, name: &str) -> Option<&str> {
        let found = scan::members(self.get().as_bytes()).find(|m| m.is(name))?;
        core::str::from_utf8(found.value).ok()
    }

    /// For text that is JSON by construction.
    pub(crate) fn trusted(text: impl Into<Box<str>>) -> Json {
        Json::of(text)
    }
}

impl scan::Member<'_> {
    /// Returns the value of a member of text that is known to be JSON.
    pub(crate) fn json(&self) -> Json {
        core::str::from_utf8(self.value).map(Json::trusted).unwrap_or_default()
    }
}

impl Default for Json {
    /// `null`. It needs no memory: no text stands for it.
    fn default() -> Json {
        Json::of("")
    }
}

impl PartialEq for Json {
    /// Compares the text: `1.0` and `1` differ, and so do objects whose members stand in another order.
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
    /// Writes the text as it is with `serde_json`, and value by value with any other serializer.
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
    /// Takes the text as it is from `serde_json`, and writes it anew from any other deserializer of a self-describing format.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        transcode::text_of(deserializer).map(Json::of)
    }
}

/// Why a text is not the JSON that was asked for.
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
