//! Custom headers from tool parameters: the `x-mcp-header` annotations in a tool's input schema.
//!
//! Specification: basic/transports/streamable-http, "Custom Headers from Tool Parameters", and server/tools,
//! "x-mcp-header".

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use memchr::memmem;

use mcpwire_text::excerpt;
use mcpwire_text::json::item_list::reject;
use mcpwire_text::json::read::{self, ReadError, Reader};
use mcpwire_text::json::scan;
use mcpwire_types::{ItemList, Tool};

const ANNOTATION: &str = "x-mcp-header";

/// Maximum number of `Mcp-Param-*` headers per tool: 64, because HTTP servers accept about a hundred headers per
/// request.
const MAX_HEADERS: usize = 64;

/// A tool parameter that the client also sends as an HTTP header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderParam {
    /// Name of the header: `Mcp-Param-` followed by the value of the `x-mcp-header` annotation.
    pub(crate) header: String,
    /// Names of the nested properties that lead from the tool's arguments to this parameter, outermost first.
    pub(crate) path: Vec<String>,
}

/// The error message that says why a schema's `x-mcp-header` annotations are invalid.
type Reason = Cow<'static, str>;

/// Returns the parameters that have an `x-mcp-header` annotation in a tool's `inputSchema`.
///
/// # Errors
///
/// Returns an error message if an annotation violates the specification. The client must then reject the whole tool.
pub(crate) fn header_params(schema: &[u8]) -> Result<Vec<HeaderParam>, Reason> {
    if !may_have_annotations(schema) {
        return Ok(Vec::new());
    }
    let mut visitor = AnnotationVisitor { path: Vec::new(), other_keywords: 0, found: Vec::new(), reason: None };
    let read = core::str::from_utf8(schema).map(|text| visitor.schema(&mut Reader::new(text)));
    match visitor.reason {
        Some(reason) => Err(reason),
        // Deserializing the tool reports a schema that is not JSON.
        None if !matches!(read, Ok(Ok(()))) => Ok(Vec::new()),
        None => Ok(visitor.found),
    }
}

/// Returns whether a schema may contain `x-mcp-header` annotations.
///
/// Most schemas contain none, and this test avoids parsing them. A schema with the keyword always passes: the keyword is
/// written either as it is or with a `\u` escape.
fn may_have_annotations(schema: &[u8]) -> bool {
    memmem::find(schema, ANNOTATION.as_bytes()).is_some() || memmem::find(schema, b"\\u").is_some()
}

/// Rejects each tool that has an invalid `x-mcp-header` annotation: moves it from the list to the rejected items of
/// `tools`.
///
/// Specification: basic/transports/streamable-http, "Schema Extension".
pub(crate) fn reject_invalid(tools: &mut ItemList<Tool>) {
    reject(tools, |tool| {
        let reason = header_params(tool.input_schema.get().as_bytes()).err()?;
        Some((tool.name.clone(), reason))
    });
}

/// Returns whether `name` is a valid HTTP header name: a token (RFC 9110, section 5.6.2).
pub(crate) fn is_token(name: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_tchar)
}

/// Collects the `x-mcp-header` annotations of a schema in one pass.
struct AnnotationVisitor {
    /// Property names on the way from the root schema to the schema that is visited, outermost first.
    path: Vec<String>,
    /// Number of keywords other than `properties`, such as `items` or `anyOf`, between the root schema and the schema
    /// that is visited. An annotation is valid only if this number is 0.
    other_keywords: usize,
    found: Vec<HeaderParam>,
    reason: Option<Reason>,
}

impl AnnotationVisitor {
    /// Visits the next value of `reader`: a schema, or an array of schemas. Skips a value of any other type.
    fn schema(&mut self, reader: &mut Reader<'_>) -> read::Result<()> {
        match reader.next_byte() {
            Some(b'{') => self.object(reader),
            Some(b'[') => reader.elements(&mut |reader| self.schema(reader)),
            _ => reader.skip(),
        }
    }

    fn object(&mut self, reader: &mut Reader<'_>) -> read::Result<()> {
        let (mut name, mut types) = (None, None);
        reader.members(&mut |keyword, reader| match keyword {
            ANNOTATION => reader.raw().map(|raw| name = Some(raw.to_string())),
            "type" => reader.raw().map(|raw| types = Some(raw.to_string())),
            "properties" if reader.next_byte() == Some(b'{') => reader.members(&mut |name, reader| {
                self.path.push(name.to_string());
                self.schema(reader)?;
                self.path.pop();
                Ok(())
            }),
            // These keywords contain values, not schemas.
            "default" | "const" | "enum" | "examples" | "required" => reader.skip(),
            keyword => {
                // The keys of these objects are names, not keywords.
                let has_names = matches!(keyword, "$defs" | "definitions" | "patternProperties" | "dependentSchemas");
                self.other_keywords += 1;
                match reader.next_byte() {
                    Some(b'{') if has_names => reader.members(&mut |_, reader| self.schema(reader))?,
                    _ => self.schema(reader)?,
                }
                self.other_keywords -= 1;
                Ok(())
            }
        })?;
        if let Some(name) = name {
            let param = self.header_param(&name, types.as_deref().unwrap_or_default()).map_err(|reason| {
                self.reason = Some(reason);
                ReadError::new("an annotation that is invalid")
            })?;
            self.found.push(param);
        }
        Ok(())
    }

    fn header_param(&self, value: &str, types: &str) -> Result<HeaderParam, Reason> {
        if self.other_keywords > 0 || self.path.is_empty() {
            return Err("an `x-mcp-header` stands where no chain of `properties` leads to".into());
        }
        let at = || excerpt(self.path.join(".").as_bytes());
        let Some(name) = scan::text(value.as_bytes()) else {
            return Err(alloc::format!("the `x-mcp-header` of `{}` is no string", at()).into());
        };
        let header = alloc::format!("Mcp-Param-{name}");
        let reason = if name.is_empty() {
            alloc::format!("the `x-mcp-header` of `{}` is empty", at())
        } else if !is_token(&name) {
            alloc::format!("the `x-mcp-header` of `{}` cannot name a header: {:?}", at(), excerpt(name.as_bytes()))
        } else if self.found.iter().any(|other| other.header.eq_ignore_ascii_case(&header)) {
            alloc::format!("two arguments have the `x-mcp-header` {name:?}")
        } else if !is_primitive(types.as_bytes()) {
            alloc::format!("`{}` has an `x-mcp-header`, and is no string, integer or boolean", at())
        } else if self.found.len() >= MAX_HEADERS {
            alloc::format!("more than {MAX_HEADERS} arguments have an `x-mcp-header`")
        } else {
            return Ok(HeaderParam { header, path: self.path.clone() });
        };
        Err(reason.into())
    }
}

/// Returns whether a tool parameter has only types that can be sent as a header: string, integer and boolean, and
/// besides these also `null`.
///
/// `types` is the JSON text of the parameter's `type` keyword.
fn is_primitive(types: &[u8]) -> bool {
    if !scan::is_array(types) {
        return matches!(scan::text(types).as_deref(), Some("string" | "integer" | "boolean"));
    }
    let (mut at, mut has_allowed) = (0, false);
    while let Some(element) = scan::next_element(types, &mut at) {
        match scan::text(&types[element]).as_deref() {
            Some("string" | "integer" | "boolean") => has_allowed = true,
            Some("null") => {}
            _ => return false,
        }
    }
    has_allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(schema: &str) -> Result<Vec<(String, String)>, String> {
        header_params(schema.as_bytes())
            .map(|list| list.into_iter().map(|one| (one.header, one.path.join("."))).collect())
            .map_err(Cow::into_owned)
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect()
    }

    #[test]
    fn annotations_below_properties_are_found() {
        let schema = r#"{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "plain":{"type":"number"},
            "deep":{"type":"object","properties":{"n":{"type":["integer","null"],"x-mcp-header":"N"}}},
            "x-mcp-header":{"type":"boolean","default":{"x-mcp-header":5}}}}"#;
        assert_eq!(names(schema).unwrap(), pairs(&[("Mcp-Param-Region", "region"), ("Mcp-Param-N", "deep.n")]));
        assert_eq!(names("{}").unwrap(), []);
        let escaped = r#"{"properties":{"a":{"type":"string","x\u002dmcp-header":"A"}}}"#;
        assert_eq!(names(escaped).unwrap(), pairs(&[("Mcp-Param-A", "a")]));
    }

    #[test]
    fn invalid_annotations() {
        let property = |rest: &str| alloc::format!(r#"{{"type":"object","properties":{{"v":{{{rest}}}}}}}"#);
        for (schema, reason) in [
            (property(r#""type":"string","x-mcp-header":"""#), "is empty"),
            (property(r#""type":"object","x-mcp-header":"D""#), "no string, integer or boolean"),
            (property(r#""type":"array","items":{"type":"string"},"x-mcp-header":"I""#), "no string, integer"),
            (property(r#""type":"null","x-mcp-header":"N""#), "no string, integer"),
            (property(r#""type":"number","x-mcp-header":"N""#), "no string, integer"),
            (property(r#""type":["string","number"],"x-mcp-header":"N""#), "no string, integer"),
            (property(r#""type":["null"],"x-mcp-header":"N""#), "no string, integer"),
            (property(r#""x-mcp-header":"N""#), "no string, integer"),
            (property(r#""type":"string","x-mcp-header":"My Region""#), "cannot name a header"),
            (property(r#""type":"string","x-mcp-header":"Region:Primary""#), "cannot name a header"),
            (property(r#""type":"string","x-mcp-header":"Région""#), "cannot name a header"),
            (property(r#""type":"string","x-mcp-header":"Region\t1""#), "cannot name a header"),
            (property(r#""type":"string","x-mcp-header":"a\r\nb""#), "cannot name a header"),
            (property(r#""type":"string","x-mcp-header":5"#), "is no string"),
            (property(r#""type":"string","x-mcp-header":null"#), "is no string"),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"R"}}}"#.into(),
                "two arguments",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"myfield"}}}}}"#.into(),
                "two arguments",
            ),
            (r#"{"x-mcp-header":"Root","type":"string"}"#.into(), "no chain"),
        ] {
            let error = names(&schema).expect_err(&schema);
            assert!(error.contains(reason), "{schema}: {error}");
        }
    }

    #[test]
    fn annotations_are_valid_only_below_properties() {
        let leaf = r#"{"type":"string","x-mcp-header":"R"}"#;
        for keyword in
            ["items", "not", "if", "then", "else", "additionalProperties", "contains", "propertyNames", "x-own"]
        {
            let schema = alloc::format!(r#"{{"properties":{{"a":{{"{keyword}":{leaf}}}}}}}"#);
            assert!(names(&schema).expect_err(keyword).contains("no chain"), "{schema}");
            let below = alloc::format!(r#"{{"{keyword}":{{"properties":{{"a":{leaf}}}}}}}"#);
            assert!(names(&below).expect_err(keyword).contains("no chain"), "{below}");
        }
        for keyword in ["anyOf", "oneOf", "allOf", "prefixItems", "items"] {
            let schema = alloc::format!(r#"{{"{keyword}":[{{}},{{"properties":{{"a":{leaf}}}}}]}}"#);
            assert!(names(&schema).expect_err(keyword).contains("no chain"), "{schema}");
        }
        for keyword in ["$defs", "definitions", "patternProperties", "dependentSchemas"] {
            let schema = alloc::format!(r#"{{"{keyword}":{{"x-mcp-header":{leaf}}}}}"#);
            assert!(names(&schema).expect_err(keyword).contains("no chain"), "{schema}");
        }
        for keyword in ["default", "const", "examples", "enum"] {
            let schema = alloc::format!(r#"{{"properties":{{"a":{{"{keyword}":[{leaf}]}}}}}}"#);
            assert_eq!(names(&schema).expect(keyword), [], "{schema}");
        }
    }

    #[test]
    fn a_million_levels_do_not_recurse() {
        let deep = alloc::format!("{{\"x-mcp-header\":{}1", "[".repeat(1_000_000));
        assert!(names(&deep).is_ok_and(|found| found.is_empty()), "it is no JSON");
        let (open, close) = ("{\"not\":".repeat(500_000), "}".repeat(500_000));
        let deep = alloc::format!("{{\"x-mcp-headers\":1,\"a\":{open}1{close}}}");
        assert!(names(&deep).is_ok_and(|found| found.is_empty()), "no reader of messages goes that deep");
    }

    #[test]
    fn a_tool_has_at_most_64_headers() {
        let one = |n: usize| alloc::format!(r#""a{n}":{{"type":"string","x-mcp-header":"A{n}"}}"#);
        let of = |n: usize| {
            let all: Vec<String> = (0..n).map(one).collect();
            names(&alloc::format!(r#"{{"properties":{{{}}}}}"#, all.join(",")))
        };
        assert_eq!(of(MAX_HEADERS).expect("as many as that").len(), MAX_HEADERS);
        assert!(of(MAX_HEADERS + 1).expect_err("one more").contains("more than 64"));
    }

    #[test]
    fn tokens() {
        assert!(is_token("X-Api.Key_1") && !is_token("") && !is_token("a b") && !is_token("a:") && !is_token("ä"));
    }
}
