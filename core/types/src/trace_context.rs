//! Trace context: the members of a request's `_meta` for distributed tracing. Specification: basic, "OpenTelemetry
//! trace context".
//!
//! The members have the names and formats of the HTTP headers that W3C Trace Context and W3C Baggage define.

use alloc::string::String;

/// Maximum number of `key=value` entries in a `tracestate`: 32 (W3C Trace Context, section 3.3.1.1).
const MAX_STATE_MEMBERS: usize = 32;

/// Maximum number of `key=value` entries in a `baggage`: 180, as in earlier drafts of W3C Baggage. The current version
/// requires systems to forward only 64 entries (section 3.3.2).
const MAX_BAGGAGE_MEMBERS: usize = 180;

/// Maximum length of a `tracestate`, in bytes: 512. Systems need not forward a longer value (W3C Trace Context,
/// "tracestate Limits").
const MAX_STATE_LENGTH: usize = 512;

/// Maximum length of a `baggage`, in bytes: 8192. Systems need not forward a longer value (W3C Baggage, section 3.3.2).
const MAX_BAGGAGE_LENGTH: usize = 8192;

/// The position of a request in a distributed trace, in the format of W3C Trace Context.
///
/// The values are validated. `RequestOptions::trace_context` adds them to a request.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::TraceContext; } }
/// use mcpwire::types::TraceContext;
///
/// let _context = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")?.state("congo=t61rcWkgMzE")?;
/// assert!(TraceContext::new("00-00000000000000000000000000000000-00f067aa0ba902b7-01").is_err());
/// # Ok::<(), mcpwire_types::TraceContextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    parent: String,
    state: Option<String>,
    baggage: Option<String>,
}

impl TraceContext {
    /// Creates a context from a `traceparent` value: version, trace id, span id and flags, as hexadecimal numbers
    /// joined by `-`.
    ///
    /// Returns an error if `parent` is not a valid `traceparent` (W3C Trace Context, section 3.2).
    pub fn new(parent: impl Into<String>) -> Result<Self, TraceContextError> {
        let parent = parent.into();
        if is_traceparent(&parent) {
            Ok(TraceContext { parent, state: None, baggage: None })
        } else {
            Err(TraceContextError { member: "traceparent" })
        }
    }

    /// Sets the `tracestate`: data of tracing systems from various vendors (W3C Trace Context, section 3.3).
    ///
    /// Returns an error if the value is not a valid `tracestate`. An empty value removes the `tracestate`.
    pub fn state(mut self, state: impl Into<String>) -> Result<Self, TraceContextError> {
        let state = state.into();
        let is_valid = state.len() <= MAX_STATE_LENGTH && is_list(&state, MAX_STATE_MEMBERS, is_tracestate_member);
        self.state = checked("tracestate", state, is_valid)?;
        Ok(self)
    }

    /// Sets the `baggage`: application data that is forwarded along the trace (W3C Baggage, section 3.3).
    ///
    /// Returns an error if the value is not a valid `baggage`. An empty value removes the `baggage`.
    pub fn baggage(mut self, baggage: impl Into<String>) -> Result<Self, TraceContextError> {
        let baggage = baggage.into();
        let is_valid = baggage.len() <= MAX_BAGGAGE_LENGTH && is_list(&baggage, MAX_BAGGAGE_MEMBERS, is_baggage_member);
        self.baggage = checked("baggage", baggage, is_valid)?;
        Ok(self)
    }

    /// Iterates over the members to add to the `_meta` of a request, as pairs of name and value.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let others = [("tracestate", self.state.as_deref()), ("baggage", self.baggage.as_deref())];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        core::iter::once(("traceparent", self.parent.as_str())).chain(others)
    }
}

/// The error for an invalid `traceparent`, `tracestate` or `baggage` value (W3C Trace Context and W3C Baggage).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid `{member}`: it does not follow the W3C's definition")]
#[non_exhaustive]
pub struct TraceContextError {
    /// Name of the invalid value: `traceparent`, `tracestate` or `baggage`.
    pub member: &'static str,
}

fn checked(member: &'static str, value: String, is_valid: bool) -> Result<Option<String>, TraceContextError> {
    match is_valid {
        true if value.trim().is_empty() => Ok(None),
        true => Ok(Some(value)),
        false => Err(TraceContextError { member }),
    }
}

fn is_traceparent(text: &str) -> bool {
    let hex = |text: &str, digits: usize| {
        text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_nonzero = |text: &str| text.bytes().any(|byte| byte != b'0');
    let mut parts = text.splitn(5, '-');
    let [version, trace, span, flags] = core::array::from_fn(|_| parts.next().unwrap_or_default());
    let is_valid_prefix =
        hex(version, 2) && version != "ff" && hex(trace, 32) && is_nonzero(trace) && hex(span, 16) && is_nonzero(span);
    // Later versions may append fields after the flags.
    let rest = parts.next();
    let rest_is_good = rest.is_none_or(|rest| version != "00" && rest.bytes().all(|byte| byte.is_ascii_graphic()));
    is_valid_prefix && hex(flags, 2) && rest_is_good
}

/// Returns whether `text` is a comma-separated list of at most `max` valid members. Empty members are allowed, and not
/// counted.
fn is_list(text: &str, max: usize, is_member: fn(&str) -> bool) -> bool {
    let members = text.split(',').map(|member| member.trim_matches([' ', '\t']));
    let mut members = members.filter(|member| !member.is_empty());
    members.by_ref().take(max).all(is_member) && members.next().is_none()
}

fn is_tracestate_member(member: &str) -> bool {
    let Some((key, value)) = member.split_once('=') else { return false };
    let key_byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    let starts_correctly = key.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let value_byte = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'=' && byte != b',';
    starts_correctly
        && key.len() <= 256
        && key.bytes().all(key_byte)
        && (1..=256).contains(&value.len())
        && value.bytes().all(value_byte)
}

fn is_baggage_member(member: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let octet = |byte: u8| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte);
    let mut parts = member.split(';').map(|part| part.trim_matches([' ', '\t']));
    let pair = |part: &str, needs_value: bool| {
        let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
        let key = key.trim_end_matches([' ', '\t']);
        let good_value = value.map_or(!needs_value, |value| value.trim_start_matches([' ', '\t']).bytes().all(octet));
        !key.is_empty() && key.bytes().all(token) && good_value
    };
    parts.next().is_some_and(|first| pair(first, true)) && parts.all(|property| pair(property, false))
}
