//! [`hex`]: bytes as text.

use alloc::format;
use alloc::string::String;

/// Returns the bytes as hexadecimal digits in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}
