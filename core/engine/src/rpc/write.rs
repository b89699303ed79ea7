//! Writes the client's messages into the transmit buffer. Only serialized parameters are copied into it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use serde::Serialize;

use mcpwire_text::json::Json;
use mcpwire_text::json::append::{Draft, push, push_number, push_raw, push_string, push_value};
use mcpwire_text::json::scan::{self, members, skip_space};

/// The members to write into the `_meta` object of a JSON-RPC request.
#[derive(Clone, Copy, Default)]
pub(crate) struct Meta<'a> {
    /// The `_meta` members that the protocol revision requires, as JSON text without braces. Empty if the revision
    /// requires none.
    pub(crate) protocol: &'a str,
    /// The progress token of the request; `None` if the caller requested no progress notifications.
    pub(crate) progress_token: Option<u64>,
    /// The `_meta` members that the application supplies, as a JSON object. The client leaves out those that it writes
    /// itself, such as the progress token.
    pub(crate) caller: Option<&'a Json>,
}

impl Meta<'_> {
    fn is_empty(&self) -> bool {
        self.protocol.is_empty() && self.progress_token.is_none() && self.caller.is_none()
    }
}

/// Why the parameters of a message could not be written.
#[derive(Debug)]
pub(crate) enum ParamsError {
    /// The parameters could not be serialized. The text says why.
    Serialize(String),
    /// The parameters were serialized to a JSON value that is not an object.
    NotAnObject,
}

/// A function that appends the parameters of a message to a buffer, as a JSON object.
pub(crate) type ParamsWriter<'a> = &'a dyn Fn(&mut Vec<u8>) -> Result<(), ParamsError>;

/// Writes an empty object. [`request`] and [`notification`] then leave the member `params` out.
pub(crate) const NO_PARAMS: ParamsWriter<'static> = &|out: &mut Vec<u8>| {
    out.extend_from_slice(b"{}");
    Ok(())
};

/// Appends a JSON-RPC request and a newline to `out`. If this fails, `out` is unchanged.
///
/// Returns the range of the parameters in `out`, from their opening brace up to `_meta` or their closing brace. The
/// range is empty if the request has neither parameters nor `_meta`.
pub(crate) fn request(
    out: &mut Vec<u8>,
    id: u64,
    method: &str,
    params: ParamsWriter<'_>,
    meta: Meta<'_>,
) -> Result<Range<usize>, ParamsError> {
    let mut draft = Draft::new(out);
    draft.text().extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    push_number(draft.text(), id);
    draft.text().push(b',');
    let params = push_rest(draft.text(), method, params, meta)?;
    draft.finish();
    Ok(params)
}

/// Appends a notification and a newline to `out`. If this fails, `out` is unchanged.
pub(crate) fn notification(out: &mut Vec<u8>, method: &str, params: ParamsWriter<'_>) -> Result<(), ParamsError> {
    let mut draft = Draft::new(out);
    push(draft.text(), br#"{"jsonrpc":"2.0","#);
    push_rest(draft.text(), method, params, Meta::default())?;
    draft.finish();
    Ok(())
}

/// Appends serialized parameters to `out`, as a JSON object on one line. Parameters that serialize to `null` become
/// an empty object.
pub(crate) fn push_object<P: Serialize + ?Sized>(out: &mut Vec<u8>, params: &P) -> Result<(), ParamsError> {
    let start = out.len();
    push_value(out, params).map_err(|error| ParamsError::Serialize(error.to_string()))?;
    match out.get(start..).unwrap_or_default() {
        b"null" => {
            out.truncate(start);
            push(out, b"{}");
            Ok(())
        }
        [b'{', .., b'}'] => Ok(()),
        _ => Err(ParamsError::NotAnObject),
    }
}

/// Appends a JSON-RPC response with a result, and a newline, to `out`. If this fails, `out` is unchanged.
///
/// `id` is the JSON text of the id of the server's request. The function `result` must append a JSON object.
pub(crate) fn result(out: &mut Vec<u8>, id: &str, result: ParamsWriter<'_>) -> Result<(), ParamsError> {
    let mut draft = Draft::new(out);
    push_response_start(draft.text(), id);
    push(draft.text(), b",\"result\":");
    result(draft.text())?;
    push(draft.text(), b"}\n");
    draft.finish();
    Ok(())
}

/// Appends an error response to a request of the server. `id` is the JSON text of the request's id.
pub(crate) fn error(out: &mut Vec<u8>, id: &str, code: i64, message: &str, data: Option<&Json>) {
    push_response_start(out, id);
    push(out, b",\"error\":{\"code\":");
    push(out, code.to_string().as_bytes());
    push(out, b",\"message\":");
    push_string(out, message);
    if let Some(data) = data {
        push(out, b",\"data\":");
        push_raw(out, data.get().as_bytes());
    }
    push(out, b"}}\n");
}

fn push_response_start(out: &mut Vec<u8>, id: &str) {
    push(out, br#"{"jsonrpc":"2.0","id":"#);
    push(out, id.as_bytes());
}

fn push_rest(
    out: &mut Vec<u8>,
    method: &str,
    params: ParamsWriter<'_>,
    meta: Meta<'_>,
) -> Result<Range<usize>, ParamsError> {
    out.extend_from_slice(b"\"method\":");
    push_string(out, method);
    let before = out.len();
    out.extend_from_slice(b",\"params\":");
    let start = out.len();
    params(out)?;
    let end = out.len() - 1;
    let has_members = out.get(skip_space(out, start + 1)) != Some(&b'}');
    if !meta.is_empty() {
        push_meta(out, has_members, meta);
    } else if !has_members {
        // Without parameters, the member `params` is left out.
        out.truncate(before);
        out.extend_from_slice(b"}\n");
        return Ok(before..before);
    }
    out.extend_from_slice(b"}\n");
    Ok(start..end)
}

/// Appends `_meta` as the last member of the JSON object at the end of `out`. `has_members` is whether the object has
/// other members.
fn push_meta(out: &mut Vec<u8>, has_members: bool, meta: Meta<'_>) {
    out.pop();
    if has_members {
        out.push(b',');
    }
    push(out, b"\"_meta\":{");
    let first = out.len();
    push(out, meta.protocol.as_bytes());
    if let Some(token) = meta.progress_token {
        separate(out, first);
        push(out, b"\"progressToken\":");
        push_number(out, token);
    }
    if let Some(caller) = meta.caller {
        let protocol = alloc::format!("{{{}}}", meta.protocol);
        for member in members(caller.get().as_bytes()) {
            let key = member.key();
            // The members that the client writes itself take the place of those of the application.
            let is_token = key == "progressToken" && meta.progress_token.is_some();
            if !is_token && scan::member(protocol.as_bytes(), &key).is_none() {
                separate(out, first);
                push_string(out, &key);
                out.push(b':');
                push_raw(out, member.value);
            }
        }
    }
    push(out, b"}}");
}

/// Appends a comma, unless the JSON object at the end of `out` is still empty. `first` is the index in `out` directly
/// after the opening brace of the object.
fn separate(out: &mut Vec<u8>, first: usize) {
    if out.len() > first {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    fn written(params: &impl Serialize, meta: Meta<'_>) -> String {
        let mut out = Vec::new();
        request(&mut out, 1, "m", &|out: &mut Vec<u8>| push_object(out, params), meta).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert_eq!(line.find('\n'), Some(line.len() - 1), "one line");
        serde_json::from_str::<serde_json::Value>(&line).unwrap();
        line.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"method":"m""#).unwrap().trim_end().into()
    }

    #[test]
    fn absent_params_are_omitted() {
        assert_eq!(written(&(), Meta::default()), "}");
        assert_eq!(written(&BTreeMap::<String, u8>::new(), Meta::default()), "}");
    }

    #[test]
    fn meta_is_merged_without_a_tree() {
        let caller = Json::parse("{\"trace\":\n1,\"progressToken\":9}").unwrap();
        let meta = Meta {
            protocol: r#""io.modelcontextprotocol/clientInfo":1"#,
            progress_token: Some(4),
            caller: Some(&caller),
        };
        let whole = r#""_meta":{"io.modelcontextprotocol/clientInfo":1,"progressToken":4,"trace":1}"#;
        assert_eq!(written(&(), meta), alloc::format!(r#","params":{{{whole}}}}}"#));
        let blank = Json::parse("{ \n }").unwrap();
        assert!(written(&blank, meta).contains(whole));
        assert_eq!(written(&BTreeMap::from([("a", 1)]), meta), alloc::format!(r#","params":{{"a":1,{whole}}}}}"#));
    }

    #[test]
    fn a_nested_log_level_does_not_replace_that_of_the_caller() {
        let caller = Json::parse(r#"{"io.modelcontextprotocol/logLevel":"debug"}"#).unwrap();
        let with = |protocol| written(&(), Meta { protocol, progress_token: None, caller: Some(&caller) });
        assert!(with(r#""a":{"io.modelcontextprotocol/logLevel":{}}"#).contains(":\"debug\""));
        assert!(!with(r#""io.modelcontextprotocol/logLevel":"info""#).contains(":\"debug\""));
    }

    #[test]
    fn raw_json_over_lines_stays_one_message() {
        let params = Json::parse("{\r\n  \"a\": \"x\\ny\"\n}").unwrap();
        assert!(written(&params, Meta::default()).contains(r#""x\ny""#));
    }

    #[test]
    fn params_that_fail_leave_nothing_behind() {
        let mut out = Vec::from(&b"before"[..]);
        let array = request(&mut out, 1, "m", &|out: &mut Vec<u8>| push_object(out, &[1]), Meta::default());
        assert!(matches!(array, Err(ParamsError::NotAnObject)));
        let bad = BTreeMap::from([(alloc::vec![1u8], 1)]);
        assert!(matches!(
            notification(&mut out, "m", &|out: &mut Vec<u8>| push_object(out, &bad)),
            Err(ParamsError::Serialize(_))
        ));
        assert_eq!(out, b"before");
    }

    #[test]
    fn params_that_panic_leave_nothing_behind() {
        struct Panics;
        impl Serialize for Panics {
            fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                panic!("in the middle of a message")
            }
        }
        let mut out = Vec::from(&b"before"[..]);
        let params = ("a", Panics);
        let written = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
            notification(&mut out, "m", &|out: &mut Vec<u8>| push_object(out, &params))
        }));
        assert!(written.is_err());
        assert_eq!(out, b"before");
    }
}
