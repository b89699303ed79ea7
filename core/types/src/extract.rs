//! Extraction of the text from a tool result.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::Serialize;

use crate::{CallToolResult, ContentBlock};
use mcpwire_text::printable;

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
    use mcpwire_text::json::Json;

    use super::*;

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
