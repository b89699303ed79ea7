//! [`ToolHeaders`]: the tools whose arguments are also sent in headers, and the tools that are idempotent.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::header_values::{Headers, encode_value};
use crate::header_params::{HeaderParam, header_params};
use crate::session::is_reading;
use mcpwire_text::json::read::unescape_lossy;
use mcpwire_text::json::scan::{self, key_text, last_member, member, text};

/// Maximum number of stored tools: 10,000, ten times as many as the largest known servers have.
const MAX_TOOLS: usize = 10_000;

/// The tools, by name, that are idempotent or have parameters which the client also sends as `Mcp-Param-*` headers.
#[derive(Default)]
pub(super) struct ToolHeaders {
    tools: BTreeMap<String, KnownTool>,
}

#[derive(Default)]
struct KnownTool {
    params: Vec<HeaderParam>,
    is_idempotent: bool,
}

impl ToolHeaders {
    /// Updates the stored tools from a page of the tool list. Returns whether that page contains a tool with the name
    /// `wanted`. `page` is `None` if the server responded with an error.
    pub(super) fn read_page(&mut self, page: Option<&[u8]>, wanted: Option<&str>) -> bool {
        let Some(tools) = page.and_then(|page| member(page, "tools")) else { return false };
        let (mut is_found, mut at) = (false, 0);
        while let Some(range) = scan::next_element(tools, &mut at) {
            let tool = &tools[range];
            let Some([b'"', name @ .., b'"']) = member(tool, "name") else { continue };
            let name = key_text(name).into_owned();
            is_found |= wanted == Some(name.as_str());
            let known = read_tool(tool);
            if known.params.is_empty() && !known.is_idempotent {
                self.tools.remove(&name);
            } else if self.tools.len() < MAX_TOOLS || self.tools.contains_key(&name) {
                self.tools.insert(name, known);
            }
        }
        is_found
    }

    /// Returns the names and values of the `Mcp-Param-*` headers for a `tools/call` with these parameters, a JSON object
    /// whose closing brace may be missing. Empty if no stored tool has the name in the parameters.
    pub(super) fn headers_of(&self, params: &[u8]) -> Headers {
        match self.called(params) {
            Some(tool) => headers(&tool.params, member(params, "arguments").unwrap_or_default()),
            None => Vec::new(),
        }
    }

    /// Returns whether no harm is done if the server carries out the request twice: the request only reads, or calls a
    /// tool that the server has declared idempotent.
    pub(super) fn is_repeatable(&self, method: &str, params: &[u8]) -> bool {
        match method {
            "tools/call" => self.called(params).is_some_and(|tool| tool.is_idempotent),
            method => is_reading(method),
        }
    }

    fn called(&self, params: &[u8]) -> Option<&KnownTool> {
        self.tools.get(&member(params, "name").and_then(text)?)
    }
}

fn read_tool(tool: &[u8]) -> KnownTool {
    let schema = member(tool, "inputSchema").unwrap_or_default();
    let annotations = member(tool, "annotations").unwrap_or_default();
    KnownTool {
        // The client removes tools with invalid annotations from tool lists. A call of such a tool has no custom
        // headers.
        params: header_params(schema).unwrap_or_default(),
        is_idempotent: member(annotations, "idempotentHint") == Some(b"true"),
    }
}

/// Returns the `Mcp-Param-*` headers for the arguments of a tool call. An argument that is missing, `null`, an array or
/// an object has no header.
fn headers(params: &[HeaderParam], arguments: &[u8]) -> Headers {
    let header = |param: &HeaderParam| {
        let value = param.path.iter().try_fold(arguments, |object, name| last_member(object, name))?;
        Some((param.header.clone().into(), encode_value(&header_text(value)?).into_owned()))
    };
    params.iter().filter_map(header).collect()
}

/// Converts a JSON value to the unencoded text of a header. Returns `None` for arrays, objects and `null`.
///
/// Specification: basic/transports/streamable-http, "Value Encoding".
fn header_text(json: &[u8]) -> Option<Cow<'_, str>> {
    let text = core::str::from_utf8(json).ok()?;
    match json.first()? {
        b'"' => Some(Cow::Owned(unescape_lossy(text.strip_prefix('"')?.strip_suffix('"')?))),
        b't' | b'f' => Some(Cow::Borrowed(text)),
        b'-' | b'0'..=b'9' => Some(decimal(text)),
        _ => None,
    }
}

/// Converts a whole JSON number, such as `1e3` or `42.0`, to decimal digits.
///
/// Returns the text unchanged if the number is not whole, or if it is too large for JavaScript to represent it exactly.
fn decimal(text: &str) -> Cow<'_, str> {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if !text.contains(['.', 'e', 'E']) {
        return Cow::Borrowed(text);
    }
    match text.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "the result is compared with the original")]
        #[expect(clippy::cast_precision_loss, reason = "larger numbers are excluded")]
        #[expect(clippy::float_cmp, reason = "whole numbers of 53 bits are exact")]
        Ok(value) if value.abs() <= SAFE && value as i64 as f64 == value => Cow::Owned((value as i64).to_string()),
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&'static str, &str)]) -> Headers {
        list.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect()
    }

    #[test]
    fn values_out_of_arguments() {
        let schema = r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
            "b":{"type":"boolean","x-mcp-header":"B"},"o":{"properties":{"d":{"type":"string","x-mcp-header":"D"}}}}}"#;
        let params = header_params(schema.as_bytes()).unwrap();
        let of = |arguments: &str| headers(&params, arguments.as_bytes());
        assert_eq!(
            of(r#"{"s":"x\u00e4","i":42,"b":false,"o":{"d":""},"q":"SELECT"}"#),
            pairs(&[
                ("Mcp-Param-S", "=?base64?eMOk?="),
                ("Mcp-Param-I", "42"),
                ("Mcp-Param-B", "false"),
                ("Mcp-Param-D", "")
            ])
        );
        assert_eq!(of(r#"{"s":null,"o":null}"#), []);
        assert_eq!(of(r#"{"s":{"d":1},"i":[1],"o":{"s":"x"}}"#), []);
        assert_eq!(of(r#"{"i":42.0}"#), pairs(&[("Mcp-Param-I", "42")]));
        assert_eq!(of(r#"{"i":-1.5e3}"#), pairs(&[("Mcp-Param-I", "-1500")]));
        assert_eq!(of(r#"{"i":1.5}"#), pairs(&[("Mcp-Param-I", "1.5")]));
        assert_eq!(of(r#"{"i":1e300}"#), pairs(&[("Mcp-Param-I", "1e300")]));
        assert_eq!(of(r#"{"s":"a","s":"b"}"#), pairs(&[("Mcp-Param-S", "b")]));
        assert_eq!(of("nonsense"), []);
    }
}
