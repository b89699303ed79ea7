//! Finds the `resultType` of a response before the result is decoded (protocol revision 2026-07-28, basic,
//! "`ResultType`").

use memchr::memchr;

use super::peek::{usual_end, usual_start};
use mcpwire_types::json::scan::{key_text, members};

/// The `resultType` of a response: whether it contains the requested result, a request for input, or a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    /// The response contains the requested result or an error. Also used for a `resultType` that is missing or unknown.
    Complete,
    /// The server requires input from the client before it can return the requested result.
    InputRequired,
    /// The server has created a task. The requested result will be the result of the task.
    Task,
}

/// Maximum length in bytes of a response whose members [`search`] reads one by one: 256. In a longer response, looking
/// for the text of [`KEY`] first is faster.
const SHORT: usize = 256;

const COMPLETE: &[u8] = br#""resultType":"complete""#;

/// The key `resultType` with its quotes.
const KEY: &[u8] = br#""resultType""#;

/// Index of the letter `T` in [`KEY`]. The search for the key looks for this letter first, because it is rare in most
/// texts.
const RARE: usize = 7;

/// Returns the `resultType` of a response, without decoding the response.
///
/// Most servers write `"resultType":"complete"` as the first or the last member of the result, so the text at these two
/// places is compared before the response is searched.
pub(crate) fn result_type(message: &[u8]) -> ResultType {
    let result = match usual_start(message) {
        Some((_, start)) => &message[start..],
        None => match usual_end(message) {
            Some((_, range)) => &message[range],
            None => return search(message),
        },
    };
    let is_first = result.get(1..).is_some_and(|members| members.starts_with(COMPLETE));
    if is_first || before_braces(result).ends_with(COMPLETE) { ResultType::Complete } else { search(message) }
}

/// Removes up to two closing braces from the end of `result`, which may extend to the end of the message.
fn before_braces(result: &[u8]) -> &[u8] {
    let inner = result.strip_suffix(b"}").unwrap_or(result);
    inner.strip_suffix(b"}").unwrap_or(inner)
}

#[inline(never)]
fn search(message: &[u8]) -> ResultType {
    if message.len() > SHORT {
        // No string can contain the key with its quotes, because the quotes would be escaped. The end of the message
        // is searched first, because the type may follow a long member.
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
