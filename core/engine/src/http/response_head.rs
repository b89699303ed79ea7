//! [`Head`]: the status and the headers of a response.

use alloc::string::String;
use alloc::vec::Vec;

/// Maximum length of a header value that is read. 8 KiB: challenges with a URL or two are below 1 KiB, session ids of known
/// servers below 200 bytes.
const MAX_VALUE: usize = 8 * 1024;

/// Maximum number of challenges to keep. 8: one for each scheme that a server supports.
const MAX_CHALLENGES: usize = 8;

/// The status of a response, and the headers that the protocol uses.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    /// The `Content-Type`, or an empty string.
    pub(super) content_type: String,
    /// The `Content-Encoding`, unless it is `identity`.
    pub(super) encoding: Option<String>,
    /// The `Mcp-Session-Id`.
    pub(super) session_id: Option<String>,
    /// The `WWW-Authenticate` headers.
    pub(super) challenges: Vec<String>,
}

impl Head {
    pub(super) fn new(status: u16) -> Self {
        Head { status, content_type: String::new(), encoding: None, session_id: None, challenges: Vec::new() }
    }

    /// Adds a header. Headers that the protocol does not use and values that are too long are ignored.
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
        }
    }

    /// Returns whether the status is 2xx.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
