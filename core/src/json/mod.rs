//! JSON as text: the opaque parts of messages, and the scanner that finds its way in a message without parsing it.

pub(crate) mod locate;
pub(crate) mod scan;
pub(crate) mod text;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

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
pub struct Json(Box<RawValue>);

impl Json {
    /// The text. It has no line breaks unless the text given to [`Json::parse`] had some.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Takes a text that must be one JSON value.
    pub fn parse(text: impl Into<String>) -> Result<Json, JsonError> {
        RawValue::from_string(text.into()).map(Json).map_err(JsonError::new)
    }

    /// The JSON text of any value that serialises.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Json, JsonError> {
        serde_json::value::to_raw_value(value).map(Json).map_err(JsonError::new)
    }

    /// Parses the text into a type of the caller's.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, JsonError> {
        serde_json::from_str(self.get()).map_err(JsonError::new)
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    /// The member `name` of an object, if this is one and has it.
    pub fn member<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let found = scan::members(self.get().as_bytes()).find(|m| m.is(name))?;
        serde_json::from_slice(found.value).ok()
    }

    pub(crate) fn from_raw(raw: &RawValue) -> Json {
        Json(raw.to_owned())
    }

    /// For text that is JSON by construction.
    pub(crate) fn trusted(text: String) -> Json {
        Json(RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

impl Default for Json {
    /// `null`.
    fn default() -> Json {
        Json(RawValue::NULL.to_owned())
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
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Json)
    }
}

/// Why a text is not the JSON that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    message: String,
}

impl JsonError {
    #[expect(clippy::needless_pass_by_value, reason = "it is made for map_err")]
    pub(crate) fn new(error: serde_json::Error) -> Self {
        JsonError { message: error.to_string() }
    }
}
