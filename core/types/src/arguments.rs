//! Arguments of tools, prompts and forms: a JSON object, or pairs of a name and a value, which become an object.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use mcpwire_text::json::append::push;
use mcpwire_text::json::object::to_json as to_object;
use mcpwire_text::json::scan::members;
use mcpwire_text::json::{self, Extra, Json, JsonError};

/// Serializes arguments to JSON. Pairs of a name and a value become an object; any other value stays as it is.
pub(crate) fn to_json<A: Serialize + ?Sized>(arguments: &A) -> Result<Json, JsonError> {
    let json = Json::from_value(arguments)?;
    Ok(object_of_pairs(json.get()).unwrap_or(json))
}

/// Makes the `arguments` of serialized parameters a JSON object. `out` contains the parameters from `start` on, with
/// `arguments` as their last member.
///
/// Pairs of a name and a value become an object, and `null` becomes an empty one. Returns `false` if the arguments are
/// any other value than an object; they then stay as they are.
pub(crate) fn make_object(out: &mut Vec<u8>, start: usize) -> bool {
    // The last member ends right before the brace that ends the parameters.
    out.ends_with(b"}}") || replace_by_object(out, start).is_some()
}

/// Replaces arguments that are `null` or pairs by an object.
///
/// Works on text, so that arguments of any type share this code, and those that serialize as an object cost nothing.
#[cold]
#[inline(never)]
fn replace_by_object(out: &mut Vec<u8>, start: usize) -> Option<()> {
    let arguments = core::str::from_utf8(members(out.get(start..)?).last()?.value).ok()?;
    let object = object_of_pairs(if arguments == "null" { "[]" } else { arguments })?;
    out.truncate(out.len().checked_sub(arguments.len() + 1)?);
    push(out, object.get().as_bytes());
    push(out, b"}");
    Some(())
}

/// Returns the JSON object with the members that `array` lists, each as an array of a name and a value. Returns `None`
/// if `array` is not such a list.
fn object_of_pairs(array: &str) -> Option<Json> {
    if !array.starts_with('[') {
        return None;
    }
    let mut object = Extra::default();
    for (name, value) in json::from_str::<Vec<(String, Json)>>(array).ok()? {
        object.push(name, value);
    }
    Some(to_object(&object))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<A: Serialize + ?Sized>(arguments: &A) -> String {
        to_json(arguments).unwrap().get().into()
    }

    #[test]
    fn pairs_become_an_object() {
        assert_eq!(text(&[("a", 1), ("b", 2)]), r#"{"a":1,"b":2}"#);
        assert_eq!(text(&(("a", 1), ("b", [Some("x"), None]))), r#"{"a":1,"b":["x",null]}"#);
        assert_eq!(text(&alloc::vec![(String::from("[\"\\,"), "]}")]), r#"{"[\"\\,":"]}"}"#);
        assert_eq!(text(&[("a", Json::parse("{ \"b\" : [1 , 2] }").unwrap())]), r#"{"a":{ "b" : [1 , 2] }}"#);
        assert_eq!(text(&Json::parse(r#" [ [ "a" , 1 ] , [ "b" , [] ] ] "#).unwrap()), r#"{"a":1,"b":[]}"#);
        assert_eq!(text(&[("a", 1); 0]), "{}");
    }

    #[test]
    fn other_values_stay_as_they_are() {
        for other in [
            "null",
            "7",
            "\"a\"",
            r#"{"a":[["b",1]]}"#,
            "[1]",
            r#"["a",1]"#,
            r#"["ab"]"#,
            "[[]]",
            r#"[["a"]]"#,
            "[[1,2]]",
            r#"[["a",1,2]]"#,
            r#"[{"a":1}]"#,
            r#"[["a",1],2]"#,
        ] {
            assert_eq!(text(&Json::parse(other).unwrap()), other);
        }
    }

    #[test]
    fn the_arguments_at_the_end_of_parameters_become_an_object() {
        for (arguments, expected) in [
            ("{}", Some("{}")),
            (r#"{"a":{}}"#, Some(r#"{"a":{}}"#)),
            ("null", Some("{}")),
            ("[]", Some("{}")),
            (r#"[["a",{}]]"#, Some(r#"{"a":{}}"#)),
            ("[{}]", None),
            ("\"}\"", None),
            ("5", None),
        ] {
            let params = |arguments| alloc::format!(r#"before{{"name":"\"arguments\":[","arguments":{arguments}}}"#);
            let mut out = params(arguments).into_bytes();
            assert_eq!(make_object(&mut out, "before".len()), expected.is_some(), "{arguments}");
            assert_eq!(String::from_utf8(out).unwrap(), params(expected.unwrap_or(arguments)));
        }
    }
}
