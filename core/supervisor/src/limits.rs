//! [`ResultLimits`]: size limits of tool results. [`RateLimiter`]: limits the rate of tool calls to a server.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::{ErrorKind, HubError};
use mcpwire_core::{CallToolResult, ContentBlock, Extra, Json, TextContent, Timestamp};

/// Limits the size of tool results, so that a large result does not fill the context of the language model.
///
/// A larger result is truncated. A note in its text informs the language model that the result is incomplete.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod supervisor { pub use mcpwire_supervisor::ResultLimits; } } pub mod types { pub use
/// # mcpwire_core::{CallToolResult, Json}; } }
/// use mcpwire::hub::supervisor::ResultLimits;
/// use mcpwire::types::{CallToolResult, Json};
///
/// let long = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "word ".repeat(1_000));
/// let mut result: CallToolResult = Json::parse(&long)?.decode()?;
/// let limits = ResultLimits { bytes: Some(400), tokens: None };
/// let cut = limits.apply(&mut result).expect("it is longer");
/// assert_eq!(cut.bytes, 5_000);
/// assert!(result.text().as_str().ends_with("of 5000 bytes are left out]"));
/// assert!(result.text().as_str().len() <= 400);
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimits {
    /// Maximum size of a tool result in bytes: the sum of its text, base64 data and JSON. `None` means no limit. 1 MiB
    /// by default.
    pub bytes: Option<usize>,
    /// Maximum number of tokens in the text of a tool result, as estimated by [`estimate_tokens`]. `None`, the default,
    /// means no limit.
    pub tokens: Option<usize>,
}

impl Default for ResultLimits {
    fn default() -> Self {
        ResultLimits { bytes: Some(1 << 20), tokens: None }
    }
}

/// The sizes of a tool result before and after its truncation, for example to log them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Truncation {
    /// Size of the tool result before the truncation, in bytes.
    pub bytes: usize,
    /// Size of the tool result after the truncation, in bytes, including the truncation note.
    pub kept: usize,
}

/// Number of bytes reserved for the note that is appended to a truncated result. 64 bytes suffice for results of up to
/// 10 GB.
const NOTE_LEN: usize = 64;

/// Estimates how many language model tokens a text has.
///
/// The estimate is one token per four ASCII characters, plus one token per other character. The estimate is usually too
/// high for natural language, and too low for random data.
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
}

impl ResultLimits {
    /// Truncates `result` to the limits. Returns the sizes before and after, or `None` if `result` is within the
    /// limits.
    ///
    /// The first content block that does not fit is truncated, or replaced by a note if it is not text. The blocks
    /// after it are removed. Structured content that does not fit is removed completely, because a part of it would be
    /// invalid JSON.
    pub fn apply(&self, result: &mut CallToolResult) -> Option<Truncation> {
        let before = size(result);
        if self.allows(before, || tokens(result)) {
            return None;
        }
        if let Some(raw) = result.without_content.take() {
            // The result has no content blocks. Its raw JSON becomes truncated text.
            let text = self.truncate_with_note(raw.get());
            result.content.push(text_block(text));
            result.structured_content = None;
            result.meta = None;
            result.extra = Extra::default();
            return Some(Truncation { bytes: before, kept: size(result) });
        }
        let dropped = self.bytes.and_then(|max| drop_large_fields(result, max / 2));
        let beside = size_beside_content(result);
        let mut left = ResultLimits { bytes: self.bytes.map(|max| max.saturating_sub(beside)), ..*self };
        let mut cut = false;
        result.content.retain_mut(|block| {
            if cut {
                return false;
            }
            let (len, cost) = (block_size(block), block.as_text().map_or(0, estimate_tokens));
            // Reserve room for the note about the next block.
            if left.allows(len + NOTE_LEN, || cost + NOTE_LEN / 4) {
                left.bytes = left.bytes.map(|left| left - len);
                left.tokens = left.tokens.map(|left| left - cost);
                return true;
            }
            cut = true;
            let text = match block.as_text() {
                Some(text) => left.truncate_with_note(text),
                None => format!("[truncated: a block of {len} bytes is left out]"),
            };
            *block = text_block(text);
            true
        });
        if let (false, Some(len)) = (cut, dropped) {
            let text = format!("[truncated: structured content of {len} bytes is left out]");
            result.content.push(text_block(text));
        }
        Some(Truncation { bytes: before, kept: size(result) })
    }

    /// Truncates a text to the limits and appends a note. Returns a text within the limits unchanged.
    pub fn cut_text(&self, text: String) -> String {
        if self.allows(text.len(), || estimate_tokens(&text)) { text } else { self.truncate_with_note(&text) }
    }

    fn allows(&self, bytes: usize, tokens: impl FnOnce() -> usize) -> bool {
        self.bytes.is_none_or(|max| bytes <= max) && self.tokens.is_none_or(|max| tokens() <= max)
    }

    /// Returns the start of a text with an appended truncation note. Both together are within the limits.
    fn truncate_with_note(&self, text: &str) -> String {
        let mut end = self.bytes.map_or(text.len(), |max| max.saturating_sub(NOTE_LEN).min(text.len()));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if let Some(max) = self.tokens {
            end = end.min(token_prefix_len(text, max.saturating_sub(NOTE_LEN / 4)));
        }
        let left_out = text.len() - end;
        format!("{}\n[truncated: {left_out} of {} bytes are left out]", &text[..end], text.len())
    }
}

/// Returns the length, in bytes, of the longest prefix of `text` that is estimated to have at most `max` tokens.
fn token_prefix_len(text: &str, max: usize) -> usize {
    let (mut ascii, mut other) = (0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        ascii += usize::from(c.is_ascii());
        other += usize::from(!c.is_ascii());
        if ascii.div_ceil(4) + other > max {
            return at;
        }
    }
    text.len()
}

fn text_block(text: String) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

/// Reduces all fields except `content` to at most `max` bytes in total. Removes metadata and unknown fields first, and
/// structured content only if that is not enough.
///
/// Returns the size of the structured content in bytes if it was removed, otherwise `None`.
fn drop_large_fields(result: &mut CallToolResult, max: usize) -> Option<usize> {
    if size_beside_content(result) <= max {
        return None;
    }
    result.meta = None;
    result.extra = Extra::default();
    if size_beside_content(result) <= max {
        return None;
    }
    result.structured_content.take().map(|json| json.get().len())
}

/// Returns the total size of all fields of a tool result except `content`, in bytes.
fn size_beside_content(result: &CallToolResult) -> usize {
    let values = result.structured_content.iter().chain(&result.meta).map(|json| json.get().len());
    values.sum::<usize>() + result.extra.iter().map(|(name, value)| name.len() + value.get().len()).sum::<usize>()
}

fn block_size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) if text.meta.is_none() && text.extra.iter().next().is_none() => text.text.len(),
        other => Json::from_value(other).map_or(0, |json| json.get().len()),
    }
}

fn size(result: &CallToolResult) -> usize {
    match &result.without_content {
        // The raw JSON already includes all other fields.
        Some(raw) => raw.get().len(),
        None => size_beside_content(result) + result.content.iter().map(block_size).sum::<usize>(),
    }
}

fn tokens(result: &CallToolResult) -> usize {
    let raw = result.without_content.as_ref().map_or(0, |json| estimate_tokens(json.get()));
    raw + result.content.iter().filter_map(ContentBlock::as_text).map(estimate_tokens).sum::<usize>()
}

/// Largest effective value of [`Rate::calls`]. The limit bounds the memory use.
const MAX_CALLS: u32 = 10_000;

/// A rate limit: the maximum number of calls in a time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Maximum number of calls in the time window [`per`](Self::per). 0 rejects every call; values above 10,000 count
    /// as 10,000.
    pub calls: u32,
    /// Length of the sliding time window in which calls are counted.
    pub per: Duration,
}

/// Limits the rate of calls: admits at most [`Rate::calls`] in each sliding time window of length [`Rate::per`].
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod protocol { pub use mcpwire_core::Timestamp; } pub mod supervisor { pub use
/// # mcpwire_supervisor::{Rate, RateLimiter}; } } }
/// use core::time::Duration;
/// use mcpwire::hub::protocol::Timestamp;
/// use mcpwire::hub::supervisor::{Rate, RateLimiter};
///
/// let at = |secs| Timestamp::from_origin(Duration::from_secs(secs));
/// let mut limiter = RateLimiter::new(Some(Rate { calls: 2, per: Duration::from_secs(60) }));
/// assert!(limiter.take(at(0)).is_ok());
/// assert!(limiter.take(at(10)).is_ok());
/// assert_eq!(limiter.take(at(20)).unwrap_err().retry_after, Duration::from_secs(40));
/// assert!(limiter.take(at(60)).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct RateLimiter {
    rate: Option<Rate>,
    /// When each call in the current time window was admitted, oldest first.
    admitted: VecDeque<Timestamp>,
}

/// The error of a tool call that was rejected because its server has reached its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.to_hub_error())]
pub struct TooManyCalls {
    /// The rate limit that the call exceeded.
    pub rate: Rate,
    /// Time to wait, counted from the rejected call, until the rate limit allows the next call.
    pub retry_after: Duration,
}

impl TooManyCalls {
    /// Converts this error to a [`HubError`], whose message tells the user the rate limit and the time to wait.
    pub fn to_hub_error(&self) -> HubError {
        let Rate { calls, per } = self.rate;
        let wait = self.retry_after.as_millis().div_ceil(1_000);
        let message = format!("Rate limit of {calls} calls in {per:?} reached; try again in {wait} s");
        HubError::new(ErrorKind::RateLimited, message).with_retry_after(self.retry_after)
    }
}

impl RateLimiter {
    /// Creates a rate limiter that allows calls at this rate, or all calls if `rate` is `None`.
    pub fn new(rate: Option<Rate>) -> Self {
        RateLimiter { rate, admitted: VecDeque::new() }
    }

    /// Changes the rate limit. Calls that were admitted before still count, unless the limit is removed (`rate` is
    /// `None`).
    pub fn set(&mut self, rate: Option<Rate>) {
        self.rate = rate;
        if rate.is_none() {
            self.admitted = VecDeque::new();
        }
    }

    /// Admits and counts a call at the time `now`. Returns an error with the time to wait if the rate limit is reached.
    pub fn take(&mut self, now: Timestamp) -> Result<(), TooManyCalls> {
        let Some(rate) = self.rate else { return Ok(()) };
        while self.admitted.front().is_some_and(|at| now.duration_since(*at) >= rate.per) {
            self.admitted.pop_front();
        }
        let max = rate.calls.min(MAX_CALLS) as usize;
        if self.admitted.len() < max {
            self.admitted.push_back(now);
            return Ok(());
        }
        // The next call is allowed when at most `max - 1` calls are left in the window.
        let blocking = self.admitted.get(self.admitted.len() - max);
        let retry_after = blocking.map_or(rate.per, |at| (*at + rate.per).duration_since(now));
        Err(TooManyCalls { rate, retry_after })
    }
}
