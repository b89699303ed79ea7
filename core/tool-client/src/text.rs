//! Converts content blocks of tool results to text for language models.

use alloc::borrow::Cow;
use alloc::format;

use mcpwire_types::{ContentBlock, Json};

/// Returns the text of a content block, or `None` for an image.
///
/// Audio and binary resources become a short text with their type or URI, without their data. All other blocks become
/// JSON, which contains their URIs and names.
pub(crate) fn block_text(block: &ContentBlock) -> Option<Cow<'_, str>> {
    Some(match block {
        ContentBlock::Image(_) => return None,
        ContentBlock::Text(text) => Cow::Borrowed(&text.text),
        ContentBlock::Audio(audio) => format!("[audio, {}]", audio.mime_type).into(),
        ContentBlock::Resource(embedded) => match (&embedded.resource.text, &embedded.resource.mime_type) {
            (Some(text), _) => Cow::Borrowed(text),
            (None, Some(mime_type)) => format!("[resource {}, {mime_type}]", embedded.resource.uri).into(),
            (None, None) => format!("[resource {}]", embedded.resource.uri).into(),
        },
        other => Json::from_value(other).map(|json| Cow::Owned(json.get().into())).unwrap_or_default(),
    })
}
