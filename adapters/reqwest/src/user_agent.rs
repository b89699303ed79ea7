//! Finds out whether a reqwest client has a `User-Agent` header of its own.

use std::fmt::{self, Write};

use reqwest::Client;

/// The name of the header as `Debug` writes it.
const NAME: &[u8] = b"\"user-agent\"";

/// Returns whether the program has set a user agent for this client.
///
/// reqwest has no function for that, but its `Debug` output contains the default headers. The output is not stored, because
/// it may contain secrets.
pub(crate) fn is_set(client: &Client) -> bool {
    let mut finder = Finder { matched: 0 };
    let _ = write!(finder, "{client:?}");
    finder.matched == NAME.len()
}

/// Looks for [`NAME`] in the text that is written to it.
struct Finder {
    /// Number of bytes of the name that the last bytes match. The length of the name once it was found.
    matched: usize,
}

impl Write for Finder {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match NAME.get(self.matched) {
                Some(expected) if *expected == byte => self.matched += 1,
                // Only the first byte of the name can begin another match.
                Some(_) => self.matched = usize::from(byte == NAME[0]),
                None => return Ok(()),
            }
        }
        Ok(())
    }
}
