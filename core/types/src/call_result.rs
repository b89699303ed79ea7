//! The result of `tools/call`, including results that do not have the shape of the specification, and its text.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::ContentBlock;
use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::object::{kept_member, read_extra, to_json};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::result::check_complete;
use mcpwire_text::json::{Extra, Json, JsonText, scan};
use mcpwire_text::printable;

/// The result of `tools/call`.
///
/// If the tool fails, `is_error` is `true` and `content` describes the error. If the request itself fails, for example
/// by a timeout, the call returns `Err` and no `CallToolResult`.
///
/// Specification: server/tools, "Tool Result".
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[doc(alias("tools/call", "GetTaskPayloadResult", "CallToolResultResponse"))]
pub struct CallToolResult {
    /// The content blocks of the result, such as texts and images.
    ///
    /// If the server sent no `content` array, this list is empty and [`CallToolResult::without_content`] is `Some`.
    pub content: Vec<ContentBlock>,
    /// The tool's output as a JSON value that conforms to the tool's output schema. `None` if the server sent none.
    pub structured_content: Option<Json>,
    /// Whether the tool failed. If so, [`CallToolResult::content`] describes the error.
    pub is_error: bool,
    /// Metadata that the server attached to the `tools/call` result (`_meta`). `None` if the server sent none.
    pub meta: Option<Json>,
    /// Members of the `tools/call` result that this version of the library does not define.
    pub extra: Extra,
    /// The complete `tools/call` result as JSON, without `_meta`, if the server violated the specification by sending
    /// no `content` array. `None` if the server sent a `content` array.
    ///
    /// Usually a JSON object, but the server may have sent any other JSON value except `null` as the result.
    pub without_content: Option<Json>,
}

impl FromJson for CallToolResult {
    const EXPECTED: &'static str = "the result of a tool";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut result = CallToolResult::default();
        if reader.next_byte() != Some(b'{') {
            return Ok(match reader.raw()? {
                "null" => Err(Mismatch::Type("null")),
                // Violates the specification, but the value is all that the tool returned.
                text => Ok(CallToolResult { without_content: Some(Json::trusted(text)), ..result }),
            });
        }
        let mut result_type = None::<String>;
        let (mut content, mut odd_content) = (None, Extra::default());
        reader.members(&mut |name, reader| match name {
            "content" => {
                // As for any member, the last of several counts.
                (content, odd_content) = (None, Extra::default());
                kept_member::<Vec<ContentBlock>, _>(&mut content, &mut odd_content, name, reader)
            }
            "structuredContent" => from_json::optional_member(&mut result.structured_content, reader),
            "isError" => from_json::default_member(&mut result.is_error, reader),
            "_meta" => from_json::optional_member(&mut result.meta, reader),
            "resultType" => from_json::result_type_member(&mut result_type, reader),
            _ => read_extra(&mut result.extra, name, reader),
        })?;
        match content {
            Some(blocks) => result.content = blocks,
            None => result.without_content = Some(whole(odd_content, &result)),
        }
        Ok(check_complete(result_type.as_deref()).map(|()| result))
    }
}

mcpwire_text::impl_deserialize!(CallToolResult);

/// Returns the value for [`CallToolResult::without_content`]: `members`, which contain a `content` that is no array, and
/// all members of `result` except `_meta`.
fn whole(mut members: Extra, result: &CallToolResult) -> Json {
    if let Some(structured) = &result.structured_content {
        members.push("structuredContent", structured.clone());
    }
    if result.is_error {
        members.push("isError", Json::trusted("true"));
    }
    for (name, value) in result.extra.iter() {
        members.push(name, value.clone());
    }
    to_json(&members)
}

impl Serialize for CallToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(value) = self.without_content.as_ref().filter(|whole| !whole.is_object()) {
            return value.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        if let Some(whole) = &self.without_content {
            for member in scan::members(whole.get().as_bytes()) {
                map.serialize_entry(&*member.key(), &member.json())?;
            }
        } else {
            map.serialize_entry("content", &self.content)?;
            if let Some(structured) = &self.structured_content {
                map.serialize_entry("structuredContent", structured)?;
            }
            map.serialize_entry("isError", &self.is_error)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        if self.without_content.is_none() {
            for (name, value) in self.extra.iter() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

/// The text of a tool result: that of its text content blocks, or the raw JSON of a result without a `content` array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolText<'a> {
    /// The texts of the result's text content blocks, joined by newlines. Other content, such as images, is left out.
    /// Empty if there is no text.
    Text(Cow<'a, str>),
    /// The raw JSON of a result that has no `content` array.
    RawJson(&'a str),
}

impl ToolText<'_> {
    /// Returns the text of either variant.
    pub fn as_str(&self) -> &str {
        match self {
            ToolText::Text(text) => text,
            ToolText::RawJson(json) => json,
        }
    }

    /// Converts the text to a `String`. Allocates only if the text is borrowed.
    pub fn into_string(self) -> String {
        match self {
            ToolText::Text(text) => text.into_owned(),
            ToolText::RawJson(json) => json.into(),
        }
    }
}

impl fmt::Display for ToolText<'_> {
    /// Writes the text of the tool result unchanged, including control characters. To show it in a terminal, wrap it in
    /// [`printable`](crate::printable).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl AsRef<str> for ToolText<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for ToolText<'_> {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == text
    }
}

impl PartialEq<&str> for ToolText<'_> {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == *text
    }
}

impl From<ToolText<'_>> for String {
    fn from(text: ToolText<'_>) -> String {
        text.into_string()
    }
}

impl CallToolResult {
    /// Returns the text blocks of the result joined by newlines, or the raw JSON of a result without a `content`
    /// array.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{CallToolResult, Json, ToolText}; } }
    /// use mcpwire::types::{CallToolResult, Json, ToolText};
    ///
    /// let two = Json::parse(r#"{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}"#)?;
    /// assert_eq!(two.decode::<CallToolResult>()?.text().as_str(), "a\nb");
    ///
    /// let bare = Json::parse(r#"{"rows":3}"#)?;
    /// assert_eq!(bare.decode::<CallToolResult>()?.text(), ToolText::RawJson(r#"{"rows":3}"#));
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    pub fn text(&self) -> ToolText<'_> {
        if let Some(whole) = &self.without_content {
            return ToolText::RawJson(whole.get());
        }
        let texts: Vec<&str> = self.content.iter().filter_map(ContentBlock::as_text).collect();
        ToolText::Text(match &*texts {
            [] => Cow::Borrowed(""),
            [only] => Cow::Borrowed(only),
            several => Cow::Owned(several.join("\n")),
        })
    }

    /// Converts the result to [`ToolOutput`], or to a [`ToolFailure`] error if the tool reported a failure (`isError:
    /// true`).
    pub fn into_output(self) -> Result<ToolOutput, ToolFailure> {
        let text = self.text().into_string();
        if self.is_error { Err(ToolFailure { text }) } else { Ok(ToolOutput { output: text }) }
    }
}

/// A successful tool result in the shape that agent loops pass to a model: `{"output": text}`.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::{CallToolResult, Json}; } }
/// use mcpwire::types::{CallToolResult, Json};
///
/// let result: CallToolResult = Json::parse(r#"{"content":[{"type":"text","text":"42"}]}"#)?.decode()?;
/// let output = result.into_output().unwrap();
/// assert_eq!(Json::from_value(&output)?.get(), r#"{"output":"42"}"#);
/// # Ok::<(), mcpwire_types::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolOutput {
    /// The text of the tool result.
    pub output: String,
}

/// The error of a tool that ran and reported a failure (`isError: true`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool failed: {}", printable(text))]
pub struct ToolFailure {
    /// The text of the tool result; may be empty.
    pub text: String,
}

impl TryFrom<CallToolResult> for ToolOutput {
    type Error = ToolFailure;

    fn try_from(result: CallToolResult) -> Result<Self, ToolFailure> {
        result.into_output()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_content_is_written_with_its_metadata() {
        for text in [
            r#"{"rows":3,"_meta":{"a":1}}"#,
            r#"{"content":"odd","structuredContent":{"b":[]},"isError":true,"x":null,"_meta":{"a":1}}"#,
            r#"{"_meta":{"a":1}}"#,
            "{}",
            "[1,2]",
            "\"bare\"",
        ] {
            let result: CallToolResult = Json::parse(text).unwrap().decode().unwrap();
            let written = Json::from_value(&result).unwrap();
            assert_eq!(written.get(), text);
            assert_eq!(written.decode::<CallToolResult>().unwrap(), result);
        }
    }

    #[test]
    fn metadata_is_not_part_of_the_text() {
        let result: CallToolResult = Json::parse(r#"{"rows":3,"_meta":{"a":1}}"#).unwrap().decode().unwrap();
        assert_eq!(result.text().as_str(), r#"{"rows":3}"#);
    }

    #[test]
    fn the_text_is_a_str() {
        fn length(text: impl AsRef<str>) -> usize {
            text.as_ref().len()
        }
        let result: CallToolResult =
            Json::parse(r#"{"content":[{"type":"text","text":"42"}]}"#).unwrap().decode().unwrap();
        assert_eq!(result.text(), "42");
        assert_eq!(result.text(), *"42");
        assert_ne!(result.text(), "4");
        assert_eq!(length(result.text()), 2);
        assert_eq!(String::from(result.text()), "42");
    }
}
