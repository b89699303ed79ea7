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
/// # mod mcpwire { pub mod types { pub use mcpwire_text::printable; } }
/// use mcpwire::types::printable;
///
/// assert_eq!(printable("a \x1b[31mred\x1b[0m line\r\n").to_string(), "a red line\n");
/// assert_eq!(printable("\x1b]0;title\x07ok").to_string(), "ok");
/// ```
pub fn printable(text: &str) -> impl fmt::Display + Copy {
    Printable { text }
}

#[derive(Clone, Copy, Debug)]
struct Printable<'a> {
    text: &'a str,
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut state = EscapeState::Text;
        for c in self.text.chars() {
            let is_text;
            (state, is_text) = state.next(c);
            if is_text {
                f.write_char(if is_unprintable(c) { '\u{fffd}' } else { c })?;
            }
        }
        Ok(())
    }
}

fn is_unprintable(c: char) -> bool {
    // Persian, Hindi and emoji require joiners and variation selectors.
    !matches!(c, '\n' | '\t' | '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') && is_invisible(c)
}

/// Returns whether a character controls a terminal, changes the direction of text, or is shown as nothing without being white
/// space.
///
/// These are the Unicode categories Cc and Cf, the property `Default_Ignorable_Code_Point`, the line separators, and the blank
/// pattern of Braille.
pub fn is_invisible(c: char) -> bool {
    // A shortcut: most text is ASCII.
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// State of the parser that finds terminal escape sequences (ECMA-48) in a text.
#[derive(Clone, Copy)]
enum EscapeState {
    Text,
    /// After ESC.
    Escape,
    /// After ESC and at least one character from space to `/`, as in `ESC ( B`.
    Intermediate,
    /// Within a control sequence, which begins with `ESC [` or U+009B.
    ControlSequence,
    /// Within a control string, such as `ESC ]` and a window title, which ends with BEL or `ESC \`.
    String,
    /// After ESC within a control string.
    StringEscape,
}

impl EscapeState {
    /// Returns the parser state after the character `c`, and whether `c` is to be shown: `false` for the characters of
    /// an escape sequence, and for a carriage return.
    fn next(self, c: char) -> (EscapeState, bool) {
        use EscapeState::{ControlSequence, Escape, Intermediate, String, StringEscape, Text};

        let state = match (self, c) {
            (Text, '\u{1b}') => Escape,
            (Text, '\u{9b}') | (Escape, '[') => ControlSequence,
            // A carriage return before a newline is part of the line break. Without a newline it would overwrite the
            // line.
            (Text, '\r') => Text,
            (Text, _) | (String, '\n') => return (Text, true),
            (Escape, ']' | 'P' | 'X' | '^' | '_') => String,
            (Escape | Intermediate, ' '..='/') => Intermediate,
            (ControlSequence, ' '..='?') => ControlSequence,
            (Escape | Intermediate, '0'..='~')
            | (ControlSequence, '@'..='~')
            | (String, '\u{7}' | '\u{9c}')
            | (StringEscape, '\\') => Text,
            (String, '\u{1b}') => StringEscape,
            (String, _) => String,
            (StringEscape, _) => return Escape.next(c),
            (Escape | Intermediate | ControlSequence, _) => return Text.next(c),
        };
        (state, false)
    }
}

/// Returns the first 200 bytes of `bytes` as one printable line. If bytes were left out, the line ends with an
/// ellipsis.
pub fn excerpt(bytes: &[u8]) -> String {
    excerpt_up_to(bytes, MAX_EXCERPT)
}

/// Returns the first `limit` bytes of `bytes`, as [`excerpt`] does.
pub fn excerpt_up_to(bytes: &[u8], limit: usize) -> String {
    let cut = bytes.len() > limit;
    let shown = &bytes[..bytes.len().min(limit)];
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

/// Displays a duration such as `300 ms`, `1.5 s` or `30 s`: with a precision of one millisecond, or of a hundredth of a second from
/// one second on, where the rest of a time limit such as 1.999 s is shown as the limit.
///
/// The `Debug` output of [`Duration`] is similar, but its code is several times larger.
pub struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let hundredths = (millis + 5) / 10;
        match (hundredths / 100, hundredths % 100) {
            (0, _) if millis > 0 => write!(f, "{millis} ms"),
            (seconds, 0) => write!(f, "{seconds} s"),
            (seconds, hundredths) => {
                let digits = alloc::format!("{seconds}.{hundredths:02}");
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
            ("\u{1b}[3\nx", "\nx"),
            ("\u{1b}]0;title\nx", "\nx"),
            ("\u{1b}]0;title\u{1b}[31mx\u{9c}y", "x\u{fffd}y"),
            ("\u{1b}]0;title", ""),
            ("\u{1b}( \u{1b}\u{1b}7x", "x"),
            ("a\u{0}b", "a\u{fffd}b"),
            ("abc\u{202e}txt.exe", "abc\u{fffd}txt.exe"),
            ("a\u{3164}\u{115f}\u{2800}\u{ad}\u{34f}b", "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}b"),
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
    fn durations_are_shown_to_the_millisecond_or_the_hundredth_of_a_second() {
        for (micros, shown) in [
            (0, "0 s"),
            (300, "0 s"),
            (1_000, "1 ms"),
            (300_999, "300 ms"),
            (994_999, "994 ms"),
            (999_000, "1 s"),
            (1_000_000, "1 s"),
            (1_999_000, "2 s"),
            (1_994_000, "1.99 s"),
            (1_500_000, "1.5 s"),
            (1_050_000, "1.05 s"),
            (30_000_000, "30 s"),
        ] {
            assert_eq!(Seconds(Duration::from_micros(micros)).to_string(), shown);
        }
    }
}
