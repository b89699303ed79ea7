//! Makes text from servers safe to show to a person.

use alloc::string::String;
use core::fmt::{self, Write};
use core::time::Duration;

/// Maximum number of bytes of a message that an error quotes: 200, enough to recognize the message, and short enough
/// for one log line.
const MAX_EXCERPT: usize = 200;

/// The UTF-8 byte order mark. Some servers write it before each message.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// Wraps a text for display in a terminal: `Display` writes the text without terminal control sequences.
///
/// Escape sequences and carriage returns are removed. Other control characters, except newline and tab, are replaced
/// by `\u{FFFD}`, and so are invisible characters that hide, split or reorder text.
///
/// ```
/// use mcpwire_types::printable;
///
/// assert_eq!(printable("a \x1b[31mred\x1b[0m line\r\n").to_string(), "a red line\n");
/// assert_eq!(printable("\x1b]0;title\x07ok").to_string(), "ok");
/// ```
pub fn printable(text: &str) -> impl fmt::Display + Copy {
    Printable { text }
}

/// The wrapper that [`printable`] returns. Its `Display` writes the text without control characters.
#[derive(Clone, Copy, Debug)]
struct Printable<'a> {
    text: &'a str,
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.text;
        while let Some(at) = rest.find(is_unprintable) {
            f.write_str(&rest[..at])?;
            let mut chars = rest[at..].chars();
            match chars.next() {
                Some('\u{1b}') => rest = after_escape(chars.as_str()),
                Some('\u{9b}') => rest = after_csi(chars.as_str()),
                // A carriage return before a newline is part of the line break. Without a newline it would overwrite
                // the line.
                Some('\r') => rest = chars.as_str(),
                Some(_) => {
                    f.write_char('\u{fffd}')?;
                    rest = chars.as_str();
                }
                None => return Ok(()),
            }
        }
        f.write_str(rest)
    }
}

fn is_unprintable(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Characters that reorder, hide or split text. Joiners are kept, because Persian, Hindi and emoji require
        // them.
        '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Returns the text after an escape sequence. `rest` is the text after its ESC character.
fn after_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        Some('[') => after_csi(chars.as_str()),
        // Operating system commands and other strings end at BEL or at ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let body = chars.as_str();
            match body.find(['\u{7}', '\u{1b}', '\u{9c}', '\n']) {
                Some(at) if body[at..].starts_with("\u{1b}\\") => &body[at + 2..],
                Some(at) if body[at..].starts_with(['\u{7}', '\u{9c}']) => {
                    body[at..].char_indices().nth(1).map_or("", |(next, _)| &body[at + next..])
                }
                Some(at) => &body[at..],
                None => "",
            }
        }
        Some(' '..='/') => {
            let body = chars.as_str();
            body.find(|c: char| !(' '..='/').contains(&c)).map_or("", |at| {
                let mut tail = body[at..].chars();
                match tail.next() {
                    Some('0'..='~') => tail.as_str(),
                    _ => &body[at..],
                }
            })
        }
        Some('0'..='~') => chars.as_str(),
        _ => rest,
    }
}

/// Returns the text after a terminal control sequence. `rest` is the text after its introducer, `ESC [` or U+009B.
fn after_csi(rest: &str) -> &str {
    match rest.find(|c: char| !(' '..='?').contains(&c)) {
        Some(at) if matches!(rest.as_bytes()[at], b'@'..=b'~') => &rest[at + 1..],
        Some(at) => &rest[at..],
        None => "",
    }
}

/// Returns the first 200 bytes of `bytes` as one printable line. If bytes were left out, the line ends with an
/// ellipsis.
pub fn excerpt(bytes: &[u8]) -> String {
    let cut = bytes.len() > MAX_EXCERPT;
    let shown = &bytes[..bytes.len().min(MAX_EXCERPT)];
    let mut out = String::with_capacity(shown.len() + 3);
    let lossy = String::from_utf8_lossy(shown);
    // Remove the replacement character of a character that was cut in two.
    let lossy = if cut { lossy.trim_end_matches('\u{fffd}') } else { &lossy };
    for c in lossy.chars() {
        match c {
            '\n' | '\t' => out.push(' '),
            c if is_unprintable(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    if cut {
        out.push('…');
    }
    out
}

/// Displays a duration with a precision of one millisecond, such as `300 ms`, `1.5 s` or `30 s`.
///
/// The `Debug` output of [`Duration`] is similar, but its code is several times larger.
pub struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.as_secs(), self.0.subsec_millis()) {
            (0, millis @ 1..) => write!(f, "{millis} ms"),
            (seconds, 0) => write!(f, "{seconds} s"),
            (seconds, millis) => {
                let digits = alloc::format!("{seconds}.{millis:03}");
                write!(f, "{} s", digits.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn escapes_do_not_pass() {
        for (text, shown) in [
            ("plain", "plain"),
            ("a\tb\nc", "a\tb\nc"),
            ("\u{1b}[2J\u{1b}[1;1Hx", "x"),
            ("\u{1b}]8;;file:///etc\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}Pq...\u{7}x", "x"),
            ("\u{9b}31mx", "x"),
            ("\u{1b}(Bx", "x"),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
            ("a\u{0}b", "a\u{fffd}b"),
            ("abc\u{202e}txt.exe", "abc\u{fffd}txt.exe"),
            (
                "👨\u{200d}👩\u{200d}👧 \u{645}\u{6cc}\u{200c}\u{62e}",
                "👨\u{200d}👩\u{200d}👧 \u{645}\u{6cc}\u{200c}\u{62e}",
            ),
            ("50%\rdone\r\n", "50%done\n"),
        ] {
            assert_eq!(printable(text).to_string(), shown, "{text:?}");
        }
    }

    #[test]
    fn an_excerpt_is_one_bounded_line() {
        assert_eq!(excerpt(b"a\nb\x1bc"), "a b\u{fffd}c");
        let long = excerpt("ä".repeat(1000).as_bytes());
        assert!(long.len() <= MAX_EXCERPT + 3, "{}", long.len());
        assert!(long.ends_with("ä…"));
    }

    #[test]
    fn durations_are_shown_to_the_millisecond() {
        for (micros, shown) in [
            (0, "0 s"),
            (300, "0 s"),
            (1_000, "1 ms"),
            (300_999, "300 ms"),
            (1_000_000, "1 s"),
            (1_500_000, "1.5 s"),
            (1_050_000, "1.05 s"),
            (30_000_000, "30 s"),
        ] {
            assert_eq!(Seconds(Duration::from_micros(micros)).to_string(), shown);
        }
    }
}
