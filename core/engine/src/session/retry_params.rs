//! [`RetryParams`]: the stored parameters for sending a request again.

use alloc::vec::Vec;
use core::fmt;

use mcpwire_types::json::Json;

/// The parameters of a request and the `_meta` that the caller passed, as JSON text for sending the request again.
pub(super) struct RetryParams {
    /// The parameters, followed by the caller's `_meta` object if the caller passed one.
    text: Vec<u8>,
    /// Offset of the `_meta` object in `text`, in bytes. The parameters end there.
    meta_at: usize,
}

impl RetryParams {
    /// Copies `params` and `meta` into `buffer`. `params` is a JSON object without its closing brace, and `meta` is
    /// empty if the caller passed no `_meta`.
    pub(super) fn new(params: &[u8], meta: &[u8], mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.reserve(params.len() + 1 + meta.len());
        buffer.extend_from_slice(params);
        buffer.push(b'}');
        let meta_at = buffer.len();
        buffer.extend_from_slice(meta);
        RetryParams { text: buffer, meta_at }
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn params(&self) -> &[u8] {
        &self.text[..self.meta_at]
    }

    pub(super) fn meta(&self) -> Option<Json> {
        let text = core::str::from_utf8(&self.text[self.meta_at..]).ok()?;
        (!text.is_empty()).then(|| Json::trusted(text))
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.text
    }
}

impl fmt::Debug for RetryParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RetryParams({} bytes)", self.len())
    }
}
