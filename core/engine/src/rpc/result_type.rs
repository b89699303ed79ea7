//! Finds the `resultType` of a response before the result is decoded (protocol revision 2026-07-28, basic,
//! "`ResultType`").

use mcpwire_types::json::scan::{is_key, key_text, members};

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

/// Returns the `resultType` of a response, without decoding the response.
///
/// Reads the members of the result in one pass. If the member `resultType` occurs more than once, the last one counts,
/// as it does when the result is decoded.
pub(crate) fn result_type(message: &[u8]) -> ResultType {
    let mut envelope = members(message);
    while let Some(key) = envelope.next_key() {
        if is_key(key, "result") {
            let last = envelope.members_of_value().filter(|member| member.is("resultType")).last();
            return last.map_or(ResultType::Complete, |member| parse(member.value));
        }
        if envelope.value().is_none() {
            break;
        }
    }
    ResultType::Complete
}

fn parse(value: &[u8]) -> ResultType {
    match value {
        [b'"', text @ .., b'"'] => match &*key_text(text) {
            "input_required" => ResultType::InputRequired,
            "task" => ResultType::Task,
            _ => ResultType::Complete,
        },
        _ => ResultType::Complete,
    }
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
    fn a_nested_type_is_not_the_type_of_the_result() {
        let reserved = r#"{"resultType":"complete"}"#;
        for (result, expected) in [
            (r#"{"resultType":"input_required","requestState":"s","_meta":N}"#, ResultType::InputRequired),
            (r#"{"_meta":N,"resultType":"input_required","requestState":"s"}"#, ResultType::InputRequired),
            (r#"{"_meta":{"a":[N]},"inputRequests":{},"resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"resultType":"task","taskId":"t","_meta":N}"#, ResultType::Task),
            (r#"{"result\u0054ype":"input_required","_meta":N}"#, ResultType::InputRequired),
            (r#"{"resultType":"complete","resultType":"input_required"}"#, ResultType::InputRequired),
            (r#"{"_meta":{"x":{"resultType":"input_required"}},"content":[]}"#, ResultType::Complete),
        ] {
            for long in [0, 300, 5000] {
                let result = result.replace('N', &format!(r#"{{"x":"{}","y":{reserved}}}"#, "x".repeat(long)));
                for message in [
                    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#),
                    format!(r#"{{"result":{result},"jsonrpc":"2.0","id":7}}"#),
                    format!(r#"{{"id":7,"_meta":{{"result":{reserved}}},"result":{result},"x":{reserved}}}"#),
                ] {
                    assert_eq!(result_type(message.as_bytes()), expected, "{message}");
                }
            }
        }
    }

    #[test]
    fn what_is_no_result_has_no_type() {
        for message in ["", "{", r#"{"id":1,"error":{"resultType":"input_required"}}"#, r#""resultType""#] {
            assert_eq!(result_type(message.as_bytes()), ResultType::Complete, "{message}");
        }
    }
}
