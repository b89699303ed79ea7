//! [`Head`]: the status and the headers of an HTTP response.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::retry_after::wait_until_retry;

/// Maximum length in bytes of the value of a response header: 8 KiB. The engine ignores headers with longer values.
///
/// Authentication challenges of known servers are shorter than 1 KiB, and session ids are shorter than 200 bytes.
const MAX_VALUE: usize = 8 * 1024;

/// Maximum number of `WWW-Authenticate` headers that are stored: 8. Servers send one for each authentication scheme
/// that they support.
const MAX_CHALLENGES: usize = 8;

/// The status of an HTTP response, and the headers that the protocol uses.
#[derive(Default)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The value of the `Content-Type` header. Empty if the header is missing.
    pub(super) content_type: String,
    /// The value of the `Content-Encoding` header. `None` if the header is missing or `identity`.
    pub(super) encoding: Option<String>,
    /// The value of the `Mcp-Session-Id` header. `None` if the header is missing or invalid.
    pub(super) session_id: Option<String>,
    /// The values of the `WWW-Authenticate` headers, at most [`MAX_CHALLENGES`]. Empty if there are none.
    pub(super) challenges: Vec<String>,
    /// The values of the headers `Retry-After` and `Date`. Empty if the header is missing or the status is a success.
    retry_after: String,
    date: String,
}

impl Head {
    pub(super) fn new(status: u16) -> Self {
        Head { status, ..Head::default() }
    }

    /// Stores a header. Ignores headers that the protocol does not use, and values longer than [`MAX_VALUE`].
    pub(super) fn add(&mut self, name: &str, value: &[u8]) {
        if value.len() > MAX_VALUE {
            return;
        }
        let text = || String::from_utf8_lossy(value.trim_ascii()).into_owned();
        if name.eq_ignore_ascii_case("content-type") {
            self.content_type = text();
        } else if name.eq_ignore_ascii_case("content-encoding") {
            self.encoding = Some(text()).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"));
        } else if name.eq_ignore_ascii_case("mcp-session-id") {
            // "MUST only contain visible ASCII characters": the client could not send any other id back.
            let is_visible = !value.is_empty() && value.iter().all(|byte| matches!(byte, b'!'..=b'~'));
            self.session_id = is_visible.then(text);
        } else if name.eq_ignore_ascii_case("www-authenticate") && self.challenges.len() < MAX_CHALLENGES {
            self.challenges.push(text());
        } else if !self.is_success() && name.eq_ignore_ascii_case("retry-after") {
            self.retry_after = text();
        } else if !self.is_success() && name.eq_ignore_ascii_case("date") {
            self.date = text();
        }
    }

    /// Returns how long the server asks the client to wait before the next attempt.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        wait_until_retry(&self.retry_after, &self.date)
    }

    /// Returns whether the status is from 200 to 299.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
