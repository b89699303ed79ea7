//! Conversions between [`Json`] and other types.

use alloc::string::String;
use core::hash::{Hash, Hasher};
use core::str::FromStr;

use serde_json::{Map, Value};

use super::{Json, JsonError, JsonText};

impl From<Value> for Json {
    fn from(value: Value) -> Json {
        Json::from(&value)
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Json {
        Json::trusted(alloc::format!("{value}"))
    }
}

impl From<Map<String, Value>> for Json {
    fn from(object: Map<String, Value>) -> Json {
        Json::from(Value::Object(object))
    }
}

impl FromStr for Json {
    type Err = JsonError;

    /// Creates a value from JSON text, like [`Json::parse`].
    fn from_str(text: &str) -> Result<Json, JsonError> {
        Json::parse(text)
    }
}

impl TryFrom<&str> for Json {
    type Error = JsonError;

    /// Creates a value from JSON text, like [`Json::parse`].
    fn try_from(text: &str) -> Result<Json, JsonError> {
        Json::parse(text)
    }
}

impl TryFrom<String> for Json {
    type Error = JsonError;

    /// Creates a value from JSON text, like [`Json::parse`].
    fn try_from(text: String) -> Result<Json, JsonError> {
        Json::parse(text)
    }
}

impl TryFrom<&Json> for Value {
    type Error = JsonError;

    /// Deserializes the JSON text, like [`Json::decode`].
    fn try_from(json: &Json) -> Result<Value, JsonError> {
        json.decode()
    }
}

impl TryFrom<Json> for Value {
    type Error = JsonError;

    /// Deserializes the JSON text, like [`Json::decode`].
    fn try_from(json: Json) -> Result<Value, JsonError> {
        json.decode()
    }
}

impl From<Json> for String {
    /// Returns the JSON text.
    fn from(json: Json) -> String {
        if json.0.is_empty() { String::from("null") } else { json.0.into_string() }
    }
}

impl AsRef<str> for Json {
    /// Returns the JSON text, like [`Json::get`].
    fn as_ref(&self) -> &str {
        self.get()
    }
}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use std::collections::HashSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_converted_to_and_from_values() {
        let value = json!({"a": [1, -2, 0.5, null, true, "ä\n\"\u{1}"], "b": {}});
        let json = Json::from(&value);
        assert_eq!(json.get(), value.to_string());
        assert_eq!(json, Json::from_value(&value).unwrap());
        assert_eq!(Value::try_from(&json), Ok(value.clone()));
        assert_eq!(Value::try_from(json.clone()), Ok(value.clone()));
        assert_eq!(Json::from(value.clone()), json);
        let Value::Object(object) = value else { panic!() };
        assert_eq!(Json::from(object), json);
        assert_eq!(Json::from(Value::Null), Json::default());
    }

    #[test]
    fn json_is_converted_to_and_from_text() {
        let json: Json = r#" {"a":1} "#.parse().unwrap();
        assert_eq!(json.as_ref(), r#"{"a":1}"#);
        assert_eq!(Json::try_from(r#"{"a":1}"#), Ok(json.clone()));
        assert_eq!(Json::try_from(String::from(r#"{"a":1}"#)), Ok(json.clone()));
        assert_eq!(String::from(json), r#"{"a":1}"#);
        assert_eq!(String::from(Json::default()), "null");
        for text in ["", "{", "1 2", "nul"] {
            let error = text.parse::<Json>().unwrap_err();
            assert_eq!(Json::try_from(text).unwrap_err(), error);
            assert_eq!(Json::parse(text).unwrap_err(), error);
        }
    }

    #[test]
    fn equal_json_has_an_equal_hash() {
        let set = HashSet::from([Json::default(), Json::parse("null").unwrap(), Json::parse("1").unwrap()]);
        assert_eq!(set.len(), 2);
    }
}
