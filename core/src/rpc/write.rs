//! Our messages, written straight into the transmit buffer: no tree, no copy.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::Json;
use crate::json::scan::{members, skip_space};

/// The `_meta` of a request, merged into its parameters while they are written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Meta<'a> {
    /// Members that the era demands, as JSON text without braces.
    pub(crate) protocol: &'a str,
    pub(crate) progress_token: Option<u64>,
    /// An object of the caller's.
    pub(crate) caller: Option<&'a Json>,
}

impl Meta<'_> {
    fn is_empty(&self) -> bool {
        self.protocol.is_empty() && self.progress_token.is_none() && self.caller.is_none()
    }
}

/// Why parameters could not be written.
#[derive(Debug)]
pub(crate) enum ParamsError {
    Serialize(String),
    NotAnObject,
}

/// Appends a request and its newline, if `check` lets the text of the parameters pass. On failure `out` is as it was.
pub(crate) fn request<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    id: u64,
    method: &str,
    params: &P,
    check: fn(&mut Vec<u8>) -> bool,
    meta: Meta<'_>,
) -> Result<(), ParamsError> {
    let mut params = object(params)?;
    if !check(&mut params) {
        return Err(ParamsError::NotAnObject);
    }
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    push_number(out, id);
    out.push(b',');
    finish(out, method, &params, meta);
    Ok(())
}

/// Appends a notification and its newline. On failure `out` is as it was.
pub(crate) fn notification<P: Serialize + ?Sized>(
    out: &mut Vec<u8>,
    method: &str,
    params: &P,
) -> Result<(), ParamsError> {
    let params = object(params)?;
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    finish(out, method, &params, Meta::default());
    Ok(())
}

/// Appends the answer to a request of the server's. `id` is the JSON text of its id.
pub(crate) fn empty_result(out: &mut Vec<u8>, id: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"result\":{}}\n");
}

/// Appends the refusal of a request of the server's. `id` is the JSON text of its id.
pub(crate) fn error(out: &mut Vec<u8>, id: &str, code: i64, message: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b",\"error\":{\"code\":");
    if code < 0 {
        out.push(b'-');
    }
    push_number(out, code.unsigned_abs());
    out.extend_from_slice(b",\"message\":");
    push_string(out, message);
    out.extend_from_slice(b"}}\n");
}

/// The parameters as the text of an object, on one line. None are an empty object.
fn object<P: Serialize + ?Sized>(params: &P) -> Result<Vec<u8>, ParamsError> {
    // Without `std` the library serialises into a buffer of its own only; it is copied once.
    let mut text = serde_json::to_vec(params).map_err(|error| ParamsError::Serialize(error.to_string()))?;
    match text.as_slice() {
        b"null" => Ok(b"{}".to_vec()),
        [b'{', .., b'}'] => {
            one_line(&mut text);
            Ok(text)
        }
        _ => Err(ParamsError::NotAnObject),
    }
}

fn finish(out: &mut Vec<u8>, method: &str, params: &[u8], meta: Meta<'_>) {
    out.extend_from_slice(b"\"method\":");
    push_string(out, method);
    let has_members = params.get(skip_space(params, 1)) != Some(&b'}');
    // No parameters at all: the member is left out.
    if has_members || !meta.is_empty() {
        out.extend_from_slice(b",\"params\":");
        out.extend_from_slice(params);
        if !meta.is_empty() {
            push_meta(out, has_members, meta);
        }
    }
    out.extend_from_slice(b"}\n");
}

/// Raw JSON of the caller's may be laid out over lines, which would break the framing. Outside of strings a line break
/// is only space, and inside of one it cannot stand.
fn one_line(text: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &text[from..]) {
        from += at;
        text[from] = b' ';
    }
}

/// Puts `_meta` at the end of the object that `out` ends with.
fn push_meta(out: &mut Vec<u8>, has_members: bool, meta: Meta<'_>) {
    out.pop();
    if has_members {
        out.push(b',');
    }
    out.extend_from_slice(b"\"_meta\":{");
    let first = out.len();
    out.extend_from_slice(meta.protocol.as_bytes());
    if let Some(token) = meta.progress_token {
        separate(out, first);
        out.extend_from_slice(b"\"progressToken\":");
        push_number(out, token);
    }
    if let Some(caller) = meta.caller {
        for member in members(caller.get().as_bytes()) {
            let key = member.key();
            if !is_ours(&key, meta) {
                separate(out, first);
                push_string(out, &key);
                out.push(b':');
                let value = out.len();
                out.extend_from_slice(member.value);
                one_line(&mut out[value..]);
            }
        }
    }
    out.extend_from_slice(b"}}");
}

/// Whether a member of `_meta` is written by us already.
fn is_ours(key: &str, meta: Meta<'_>) -> bool {
    match key {
        "progressToken" => meta.progress_token.is_some(),
        "io.modelcontextprotocol/protocolVersion"
        | "io.modelcontextprotocol/clientInfo"
        | "io.modelcontextprotocol/clientCapabilities" => !meta.protocol.is_empty(),
        "io.modelcontextprotocol/logLevel" => meta.protocol.contains("\"io.modelcontextprotocol/logLevel\":"),
        _ => false,
    }
}

fn separate(out: &mut Vec<u8>, first: usize) {
    if out.len() > first {
        out.push(b',');
    }
}

/// A decimal number; the formatting machinery would cost more than the rest of the envelope.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        // The remainder is below ten.
        digits[at] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn push_string(out: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'"' && b != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // A string cannot fail to serialise into memory.
        out.extend_from_slice(&serde_json::to_vec(text).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    fn written(params: &impl Serialize, meta: Meta<'_>) -> String {
        let mut out = Vec::new();
        request(&mut out, 1, "m", params, |_| true, meta).unwrap();
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
    fn raw_json_over_lines_stays_one_message() {
        let params = Json::parse("{\r\n  \"a\": \"x\\ny\"\n}").unwrap();
        assert!(written(&params, Meta::default()).contains(r#""x\ny""#));
    }

    #[test]
    fn params_that_are_no_object_leave_nothing_behind() {
        let mut out = Vec::from(&b"before"[..]);
        assert!(matches!(request(&mut out, 1, "m", &[1], |_| true, Meta::default()), Err(ParamsError::NotAnObject)));
        let bad = BTreeMap::from([(alloc::vec![1u8], 1)]);
        assert!(matches!(notification(&mut out, "m", &bad), Err(ParamsError::Serialize(_))));
        assert_eq!(out, b"before");
    }

    #[test]
    fn numbers_and_strings() {
        let mut out = Vec::new();
        push_number(&mut out, 0);
        push_number(&mut out, u64::MAX);
        push_string(&mut out, "a\"\n");
        assert_eq!(out, br#"018446744073709551615"a\"\n""#);
    }
}
