//! [`Output`]: the result of a tool call, before it is written as JSON.

use std::time::Duration;

use serde_json::{Value, json};

use crate::revision::Revision;

/// The result of a tool call, independent of the protocol revision.
#[derive(Debug)]
pub(crate) struct Output {
    text: String,
    structured: Option<Value>,
    /// A PNG image in base64 that follows the text. `None` if the result has no image.
    image: Option<&'static str>,
    is_error: bool,
}

impl Output {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, image: None, is_error: false }
    }

    pub(crate) fn structured(text: impl Into<String>, value: Value) -> Self {
        Self { structured: Some(value), ..Self::text(text) }
    }

    pub(crate) fn image(text: impl Into<String>, png: &'static str) -> Self {
        Self { image: Some(png), ..Self::text(text) }
    }

    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// Converts the result to the JSON that a protocol revision defines.
    pub(crate) fn into_result(self, revision: Revision) -> Value {
        let mut content = vec![json!({ "type": "text", "text": self.text })];
        content.extend(self.image.map(|png| json!({ "type": "image", "data": png, "mimeType": "image/png" })));
        let mut result = json!({ "content": content, "isError": self.is_error });
        if let Some(value) = self.structured
            && revision.has_structured_output()
        {
            result["structuredContent"] = value;
        }
        revision.complete(result)
    }
}

/// Returns the result of a call of the tool `slow`, with the time that it has waited.
pub(crate) fn waited(length: Duration) -> Output {
    Output::text(format!("Waited {} s.", length.as_secs_f64()))
}

/// Returns the JSON Schema of an object with these properties, which allows no other properties.
#[expect(clippy::needless_pass_by_value, reason = "takes what json! makes")]
pub(crate) fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
