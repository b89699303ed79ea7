//! JSON: the reader, the writer, the scanner, which finds members without parsing, and [`Json`], a value that is
//! stored as text. Also the macros that declare the protocol's objects and enumerations, and what such types have in
//! common.

pub mod append;
mod convert;
mod decode;
pub mod error;
pub mod from_json;
pub mod item_list;
mod lex;
mod number;
pub mod numeral;
pub mod object;
mod open_enum;
mod path;
pub mod peer_error;
pub mod read;
pub mod result;
pub mod scan;
mod string;
mod transcode;

pub use decode::from_str;
pub use item_list::{InvalidItem, ItemList};
pub use number::Number;
pub use object::Extra;
pub use peer_error::{PeerError, PeerErrorKind};
pub use read::is_json;
use transcode::SERDE_RAW;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{excerpt, printable};

/// One JSON value, stored as its original text.
///
/// This type is used for values whose structure the protocol does not define, such as the schema of a tool, structured
/// content or `_meta`. The text is always valid JSON. [`Json::decode`] converts it to a Rust value.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_text::json::Json; } }
/// use mcpwire::types::Json;
///
/// let schema = Json::parse(r#"{"type":"object"}"#)?;
/// assert_eq!(schema.get(), r#"{"type":"object"}"#);
/// let value: serde_json::Value = schema.decode()?;
/// assert_eq!(value["type"], "object");
/// # Ok::<(), mcpwire_text::json::JsonError>(())
/// ```
#[derive(Clone)]
#[doc(alias("JSONValue", "JSONObject", "JSONArray"))]
pub struct Json(Box<str>);

impl Json {
    /// Returns the JSON text of the value.
    ///
    /// The text may contain line breaks between tokens. When the value is sent, a space replaces each line break.
    pub fn get(&self) -> &str {
        if self.0.is_empty() { "null" } else { &self.0 }
    }

    /// Creates a value from JSON text, without the white space around the value. Returns an error if the text is not
    /// exactly one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Json, JsonError> {
        let text = text.into();
        let mut reader = read::Reader::new(&text);
        let raw = reader.raw().and_then(|raw| reader.end().map(|()| raw));
        let raw = raw.map_err(|error| JsonError::read(&error, &text))?;
        if raw.len() == text.len() { Ok(Json::trusted(text)) } else { Ok(Json::trusted(raw)) }
    }

    /// Serializes a value to JSON text without line breaks.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
        let mut text = Vec::new();
        append::push_value(&mut text, value).map_err(JsonError::write)?;
        String::from_utf8(text).map(Json::trusted).map_err(JsonError::write)
    }

    /// Deserializes the JSON text into a value of type `T`, with `serde_json`.
    ///
    /// # Errors
    /// Fails if the value is not a `T`. Also fails, unlike the types of the protocol, for a string of `T` with half of
    /// a surrogate pair, such as `"\ud83d"`. The error names the path of the wrong part, such as `rows[1].id`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        from_str(self.get()).map_err(|error| JsonError::read(&error, self.get()))
    }

    /// Returns whether the value is a JSON object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// Deserializes the last member with the key `name`, with `serde_json`. Returns `None` if the value is not an object, has no such
    /// member, or if the member is not a `T`.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.member_text(name).and_then(|text| from_str(text).ok())
    }
}

/// What the crates of this workspace do with the text of a [`Json`], beyond its public methods.
pub trait JsonText {
    /// Creates a value from text that is known to be valid JSON. The text is not checked.
    fn trusted(text: impl Into<Box<str>>) -> Self;

    /// Returns the JSON text of the last member with the key `name`. Returns `None` if the value is not an object or
    /// has no such member.
    fn member_text(&self, name: &str) -> Option<&str>;
}

impl JsonText for Json {
    fn trusted(text: impl Into<Box<str>>) -> Json {
        Json(text.into())
    }

    fn member_text(&self, name: &str) -> Option<&str> {
        scan::last_member(self.get().as_bytes(), name).and_then(|value| core::str::from_utf8(value).ok())
    }
}

impl read::Reader<'_> {
    /// Reads the next value of any type, including `null`.
    pub fn json(&mut self) -> read::Result<Json> {
        self.raw().map(Json::trusted)
    }
}

impl scan::Member<'_> {
    /// Returns the value of the object member as a [`Json`]. Does not check the syntax: the caller must already have
    /// checked the text.
    pub fn json(&self) -> Json {
        core::str::from_utf8(self.value).map(Json::trusted).unwrap_or_default()
    }
}

impl Default for Json {
    /// Returns `null`, which is stored as an empty text to save a memory allocation.
    fn default() -> Json {
        Json::trusted("")
    }
}

impl PartialEq for Json {
    /// Compares the JSON texts, not the values: `1.0` differs from `1`, and objects with the same members in another
    /// order differ.
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
    /// Passes the JSON text unchanged to a serializer that accepts raw JSON text, such as that of `serde_json`. Any
    /// other serializer receives the parsed value.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !transcode::takes_raw::<S>() {
            return transcode::Parts(self.get()).serialize(serializer);
        }
        let mut raw = serializer.serialize_struct(SERDE_RAW, 1)?;
        raw.serialize_field(SERDE_RAW, self.get())?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Takes the JSON text unchanged from the deserializer of `serde_json`. Values of other self-describing formats are
    /// converted to JSON text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        transcode::text_of(deserializer).map(Json::trusted)
    }
}

/// The error for a text that is not valid JSON, or for a value that cannot be converted to or from JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", printable(message))]
pub struct JsonError {
    message: String,
    /// Whether a value could not be serialized. Otherwise, text could not be read.
    is_write: bool,
}

impl JsonError {
    /// Creates the error for `text`, which is not valid JSON, or not of the requested type.
    #[cold]
    fn read(error: &read::ReadError, text: &str) -> Self {
        let message = match path::path_at(text.as_bytes(), error.offset()) {
            path if path.is_empty() => alloc::format!("{error}"),
            path => alloc::format!("{error} at `{path}`"),
        };
        JsonError { message, is_write: false }
    }

    /// Creates the error for a value that cannot be serialized to JSON.
    fn write(error: impl fmt::Display) -> Self {
        JsonError { message: alloc::format!("{error}"), is_write: true }
    }
}

/// Returns whether `error` says that a value could not be serialized. Otherwise text could not be read.
pub fn is_write_error(error: &JsonError) -> bool {
    error.is_write
}
