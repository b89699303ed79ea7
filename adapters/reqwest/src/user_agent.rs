//! [`is_set`]: detects whether a reqwest client adds a `User-Agent` header to its requests.

use std::fmt::{self, Write};

use reqwest::Client;

/// The name of the header in the `Debug` output of a reqwest client.
const NAME: &[u8] = b"\"user-agent\"";

/// Returns whether the program has built this reqwest client with a user agent.
///
/// reqwest has no function for this, but the `Debug` output of a client contains its default headers. The output is searched
/// while it is written and never stored, because it may contain secrets.
pub(crate) fn is_set(client: &Client) -> bool {
    let mut finder = Finder { matched: 0 };
    let _ = write!(finder, "{client:?}");
    finder.matched == NAME.len()
}

/// A writer that searches the text that is written to it for [`NAME`].
struct Finder {
    /// Number of bytes at the start of [`NAME`] that the last written bytes match. Remains the length of [`NAME`] after a match.
    matched: usize,
}

impl Write for Finder {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match NAME.get(self.matched) {
                Some(expected) if *expected == byte => self.matched += 1,
                // A mismatch can only restart the match at the first byte, because this byte (`"`) occurs only at the start and
                // end of `NAME`.
                Some(_) => self.matched = usize::from(byte == NAME[0]),
                None => return Ok(()),
            }
        }
        Ok(())
    }
}
