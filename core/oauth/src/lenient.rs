//! Lenient parsing of the JSON documents of servers: an optional member with a value of the wrong type counts as
//! absent.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Scopes;

/// Maximum number of strings that are read from a list. Further strings are ignored.
const MAX_STRINGS: usize = 256;

/// Deserializes a member, or returns the default value if the member has the wrong type.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let value = Value::deserialize(deserializer)?;
    Ok(T::deserialize(value).unwrap_or_default())
}

/// Deserializes a list of strings, and skips other elements. `None` if the value is not a list.
pub(crate) fn strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let Value::Array(elements) = Value::deserialize(deserializer)? else { return Ok(None) };
    let strings = elements.into_iter().filter_map(|element| match element {
        Value::String(text) => Some(text),
        _ => None,
    });
    Ok(Some(strings.take(MAX_STRINGS).collect()))
}

/// Deserializes a list of strings, and skips other elements. Returns an empty list if the value is not a list.
pub(crate) fn or_default_strings<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    strings(deserializer).map(Option::unwrap_or_default)
}

/// Deserializes scopes: a list of strings, or one string with spaces between the scopes. `None` if the value is
/// neither.
pub(crate) fn scopes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Scopes>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(elements) => Some(elements.iter().filter_map(Value::as_str).collect()),
        Value::String(text) => Some(Scopes::parse(&text)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    struct Document {
        #[serde(default, deserialize_with = "or_default")]
        text: Option<String>,
        #[serde(default, deserialize_with = "or_default")]
        flag: bool,
        #[serde(default, deserialize_with = "strings")]
        list: Option<Vec<String>>,
        #[serde(default, deserialize_with = "scopes")]
        scopes: Option<Scopes>,
    }

    fn read(json: &str) -> Document {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn members_of_the_right_type_are_read() {
        let expected = Document {
            text: Some("a".to_string()),
            flag: true,
            list: Some(vec!["b".to_string(), "c".to_string()]),
            scopes: Some(Scopes::parse("d e")),
        };
        assert_eq!(
            read(r#"{"text":"a","flag":true,"list":["b",1,"c",null],"scopes":["d",{},"e"],"more":[]}"#),
            expected
        );
        assert_eq!(read(r#"{"text":"a","flag":true,"list":["b","c"],"scopes":"d e"}"#), expected);
    }

    #[test]
    fn members_of_another_type_count_as_absent() {
        assert_eq!(read(r#"{"text":1,"flag":"true","list":"b","scopes":{}}"#), Document::default());
        assert_eq!(read(r#"{"text":null,"flag":null,"list":null,"scopes":null}"#), Document::default());
        assert_eq!(read("{}"), Document::default());
    }
}
