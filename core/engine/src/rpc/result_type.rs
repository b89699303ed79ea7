//! The type of a result (2026-07-28, basic, "`ResultType`"), found before the result is read.

use memchr::memchr;

use super::peek::{usual_end, usual_start};
use crate::json::scan::{key_text, members};

/// What a response holds, as far as that decides who it is for. The decode has the last word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// What was asked for, an error, or what only the caller can judge.
    Complete,
    /// The server wants input first.
    InputRequired,
    /// The server has made a task of it.
    Task,
}

/// Up to here, looking at the members costs less than searching; what follows a long one is found within as many bytes.
const SHORT: usize = 256;

const COMPLETE: &[u8] = br#""resultType":"complete""#;

/// The key, and where in it the letter is that texts have least of.
const KEY: &[u8] = br#""resultType""#;
const RARE: usize = 7;

/// Looks at the type of the result that a response holds.
///
/// Servers write the type as the first or the last member of a result, and then a comparison of a few bytes is all it takes,
/// whatever the size. Elsewhere the key is searched for, near the end first, at a tenth of what reading the message costs, and
/// the members are looked at one by one only if it stands there with another value than `complete`. It cannot stand in a
/// text: there its quotes have backslashes before them.
pub(crate) fn result_type(message: &[u8]) -> ResultType {
    let result = match usual_start(message) {
        Some((_, start)) => &message[start..],
        None => match usual_end(message) {
            Some((_, range)) => &message[range],
            None => return searched(message),
        },
    };
    let is_first = result.get(1..).is_some_and(|members| members.starts_with(COMPLETE));
    if is_first || before_braces(result).ends_with(COMPLETE) { ResultType::Complete } else { searched(message) }
}

/// What stands before the brace that ends the result, and before the one that ends the message, where that is there too.
fn before_braces(result: &[u8]) -> &[u8] {
    let inner = result.strip_suffix(b"}").unwrap_or(result);
    inner.strip_suffix(b"}").unwrap_or(inner)
}

#[inline(never)]
fn searched(message: &[u8]) -> ResultType {
    if message.len() > SHORT {
        let mut end = &message[message.len() - SHORT..];
        while let Some(found) = from_key(end) {
            if found.starts_with(COMPLETE) {
                return ResultType::Complete;
            }
            end = &found[KEY.len()..];
        }
        match from_key(message) {
            Some(found) if !found.starts_with(COMPLETE) => {}
            _ => return ResultType::Complete,
        }
    }
    let value = members(message)
        .find(|member| member.is("result"))
        .and_then(|result| members(result.value).find(|member| member.is("resultType")));
    match value.map(|member| member.value) {
        Some([b'"', text @ .., b'"']) => match &*key_text(text) {
            "input_required" => ResultType::InputRequired,
            "task" => ResultType::Task,
            _ => ResultType::Complete,
        },
        _ => ResultType::Complete,
    }
}

/// What begins with the key.
fn from_key(message: &[u8]) -> Option<&[u8]> {
    let mut rest = message.get(RARE..)?;
    while let Some(at) = memchr(KEY[RARE], rest) {
        let found = &message[message.len() - rest.len() + at - RARE..];
        if found.starts_with(KEY) {
            return Some(found);
        }
        rest = &rest[at + 1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_type_is_found_wherever_it_stands() {
        let texts = [
            (r#"{"resultType":"input_required","requestState":"x"}"#, ResultType::InputRequired),
            (r#"{"requestState":"x","resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"inputRequests":{},"resultType":"input_required","requestState":"x"}"#, ResultType::InputRequired),
            (r#"{ "resultType" : "input\u005frequired" }"#, ResultType::InputRequired),
            (r#"{"_meta":{"resultType":"x"},"resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"resultType":"complete","content":[]}"#, ResultType::Complete),
            (r#"{"content":[],"resultType":"complete"}"#, ResultType::Complete),
            (r#"{"content":[],"resultType":"complete","isError":false}"#, ResultType::Complete),
            (r#"{"content":[]}"#, ResultType::Complete),
            (r#"{"resultType":"task"}"#, ResultType::Task),
            (r#"{"resultType":"other"}"#, ResultType::Complete),
            (r#"{"resultType":7}"#, ResultType::Complete),
            (r#"{"content":[{"text":"\"resultType\":\"input_required\""}]}"#, ResultType::Complete),
            (r#"{"structuredContent":{"resultType":"input_required"}}"#, ResultType::Complete),
            ("{}", ResultType::Complete),
            ("null", ResultType::Complete),
        ];
        for (result, expected) in texts {
            for message in [
                format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
                format!(r#"{{"result":{result},"jsonrpc":"2.0","id":7}}"#),
                format!(r#" {{ "id":7, "result" : {result} , "jsonrpc":"2.0" }} "#),
            ] {
                assert_eq!(result_type(message.as_bytes()), expected, "{message}");
            }
        }
    }

    #[test]
    fn behind_and_before_what_is_long_too() {
        let long = "x".repeat(1000);
        for (members, expected) in [
            (r#""a":"L","resultType":"input_required","b":"L""#, ResultType::InputRequired),
            (r#""a":"L","resultType":"complete","b":"L""#, ResultType::Complete),
            (r#""a":"L","resultType":"complete","b":1"#, ResultType::Complete),
            (r#""a":"L","b":{"resultType":"x"},"resultType":"input_required""#, ResultType::InputRequired),
            (r#""a":"L""#, ResultType::Complete),
        ] {
            let message = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{{}}}}}"#, members.replace('L', &long));
            assert_eq!(result_type(message.as_bytes()), expected, "{members}");
        }
    }

    #[test]
    fn what_is_no_result_has_no_type() {
        for message in ["", "{", r#"{"id":1,"error":{"resultType":"input_required"}}"#, r#""resultType""#] {
            assert_eq!(result_type(message.as_bytes()), ResultType::Complete, "{message}");
        }
    }
}
