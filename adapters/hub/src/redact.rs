//! [`Redactor`]: takes secret values out of what is shown and kept, also out of streams that come in pieces.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::secrets::Secret;

/// What stands in the place of a secret. It says nothing of it, not even its length.
const MARK: &str = "[secret]";

/// The shortest value that is replaced. 4 characters: shorter ones are in every other word, and no secrets.
const SHORTEST: usize = 4;

/// The shortest line of a value of several lines that is replaced by itself, as a line of a key would be in a log.
const SHORTEST_LINE: usize = 12;

/// The shortest part of a value that is replaced by itself: a word of a header such as `Bearer TOKEN`, or the value of a cookie.
/// Shorter ones, such as the name of the scheme, are ordinary words.
const SHORTEST_PART: usize = 8;

/// Characters between the parts of a credential.
const SEPARATORS: [char; 9] = [' ', '\t', ',', ';', '=', ':', '&', '"', '\''];

/// Authentication schemes: what stands behind one is a credential, however short.
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "digest", "apikey"];

/// Replaces secret values wherever they stand: as they are, as JSON writes them, as an address does, each longer line of
/// those that have several, and each part of a credential such as `Bearer TOKEN`.
///
/// ```
/// use mcpwire_hub::redact::Redactor;
///
/// let redactor = Redactor::new(["hunter22".into()]);
/// assert_eq!(redactor.redact("the password is hunter22!"), "the password is [secret]!");
///
/// let mut stream = redactor.stream();
/// let mut out = Vec::new();
/// stream.push(b"it is hunt", &mut out);
/// assert_eq!(out, b"it is ");
/// stream.push(b"er22.", &mut out);
/// assert_eq!(out, b"it is [secret].");
/// ```
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first.
    patterns: Arc<Vec<Zeroizing<Vec<u8>>>>,
}

/// Whether a pattern begins with this byte: most bytes of a text need no closer look.
fn begins_one(patterns: &[Zeroizing<Vec<u8>>], byte: u8) -> bool {
    patterns.iter().any(|pattern| pattern[0] == byte)
}

impl Redactor {
    /// Replaces these values. Values of less than 4 bytes are not replaced: there would be nothing left of the text.
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        let mut patterns = Vec::new();
        for value in values {
            let value = value.expose();
            add_all_forms(&mut patterns, value, SHORTEST);
            if let Some((scheme, credential)) = value.trim().split_once(' ')
                && SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
            {
                add_all_forms(&mut patterns, credential.trim(), SHORTEST);
            }
            for part in value.split(SEPARATORS).filter(|part| part.len() < value.len()) {
                add_all_forms(&mut patterns, part, SHORTEST_PART);
            }
            if value.contains('\n') {
                for line in value.lines() {
                    add(&mut patterns, line.as_bytes(), SHORTEST_LINE);
                }
            }
        }
        patterns.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        patterns.dedup();
        Redactor { patterns: Arc::new(patterns) }
    }

    /// Whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// A text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        let mut stream = self.stream();
        stream.push(text.as_bytes(), &mut out);
        stream.finish(&mut out);
        // What was replaced is whole characters, and so is what stands in its place.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// For a text that comes in pieces.
    pub fn stream(&self) -> RedactStream {
        RedactStream { redactor: self.clone(), held: Zeroizing::new(Vec::new()) }
    }

    /// The longest pattern that begins here.
    fn at(&self, bytes: &[u8]) -> Option<usize> {
        self.patterns.iter().find(|pattern| bytes.starts_with(pattern)).map(|pattern| pattern.len())
    }

    /// Whether a pattern could begin here and go on behind the end.
    fn could_go_on(&self, bytes: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.len() > bytes.len() && pattern.starts_with(bytes))
    }
}

/// Adds a value as it is, as JSON writes it, and as an address does.
fn add_all_forms(patterns: &mut Vec<Zeroizing<Vec<u8>>>, value: &str, shortest: usize) {
    add(patterns, value.as_bytes(), shortest);
    add(patterns, in_json(value).as_bytes(), shortest);
    add(patterns, in_address(value).as_bytes(), shortest);
}

fn add(patterns: &mut Vec<Zeroizing<Vec<u8>>>, pattern: &[u8], shortest: usize) {
    if pattern.len() >= shortest {
        patterns.push(Zeroizing::new(pattern.to_vec()));
    }
}

/// As it stands within the quotes of a JSON string.
fn in_json(value: &str) -> Zeroizing<String> {
    let text = Zeroizing::new(serde_json::to_string(value).unwrap_or_default());
    Zeroizing::new(text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned())
}

/// As it stands in an address, with all but letters, digits and `-._~` escaped.
fn in_address(value: &str) -> Zeroizing<String> {
    use fmt::Write as _;
    let mut text = Zeroizing::new(String::with_capacity(value.len() * 3));
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("values", &self.patterns.len()).finish()
    }
}

/// A text that comes in pieces. Only an end that could be the beginning of a secret is held back until more comes, so less than
/// the longest secret, and nothing of a line that holds none.
pub struct RedactStream {
    redactor: Redactor,
    held: Zeroizing<Vec<u8>>,
}

impl RedactStream {
    /// Takes a piece, and adds to `out` what can be shown.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.redactor.is_empty() {
            out.extend_from_slice(bytes);
            return;
        }
        self.held.extend_from_slice(bytes);
        self.take(out, false);
    }

    /// Adds to `out` what was held back: nothing more comes.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.take(out, true);
    }

    fn take(&mut self, out: &mut Vec<u8>, is_end: bool) {
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let plain = rest.iter().position(|byte| begins_one(&self.redactor.patterns, *byte)).unwrap_or(rest.len());
            if plain > 0 {
                out.extend_from_slice(&rest[..plain]);
                at += plain;
                continue;
            }
            // A longer secret may still come, of which a shorter one is the beginning.
            if !is_end && self.redactor.could_go_on(rest) {
                break;
            }
            if let Some(length) = self.redactor.at(rest) {
                out.extend_from_slice(MARK.as_bytes());
                at += length;
            } else {
                out.push(rest[0]);
                at += 1;
            }
        }
        self.held.drain(..at);
    }
}

impl fmt::Debug for RedactStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedactStream").field("held", &self.held.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(values: &[&str]) -> Redactor {
        Redactor::new(values.iter().map(|value| Secret::new(*value)))
    }

    #[test]
    fn case_22_a_secret_is_replaced_however_it_is_split() {
        let redactor = redactor(&["hunter2-and-more", "hunter2", "pass\nword", "ünïcode"]);
        let text = "a hunter2 b hunter2-and-more c hunter2-and d pass\nword ünïcode \"pass\\nword\" hunter";
        let expected = "a [secret] b [secret] c [secret]-and d [secret] [secret] \"[secret]\" hunter";
        assert_eq!(redactor.redact(text), expected);
        for size in 1..text.len() {
            let (mut stream, mut out) = (redactor.stream(), Vec::new());
            for piece in text.as_bytes().chunks(size) {
                stream.push(piece, &mut out);
            }
            stream.finish(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "pieces of {size}");
        }
    }

    #[test]
    fn no_more_is_held_back_than_a_secret_could_begin_with() {
        let redactor = redactor(&["abcdefgh"]);
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        for _ in 0..100_000 {
            stream.push(b"abcdefg", &mut out);
            assert!(stream.held.len() < 8);
        }
        stream.push(b"\n", &mut out);
        assert_eq!(out.len(), 700_001, "a line without a secret goes through at once");
    }

    #[test]
    fn other_ways_to_write_a_secret_are_found() {
        let redactor = redactor(&["a b/c\"d", "-----BEGIN\nMIIEvQIBADANBgkq\nshort\n-----END"]);
        assert_eq!(redactor.redact("https://x?k=a%20b%2Fc%22d&y"), "https://x?k=[secret]&y");
        assert_eq!(redactor.redact(r#"{"k":"a b/c\"d"}"#), r#"{"k":"[secret]"}"#);
        assert_eq!(redactor.redact("line: MIIEvQIBADANBgkq, short"), "line: [secret], short");
    }

    #[test]
    fn parts_of_a_credential_are_replaced() {
        let redactor = redactor(&["Bearer abc123", "session=0123456789; theme=dark", "me:correct-horse"]);
        for (text, expected) in [
            ("Bearer abc123", "[secret]"),
            ("invalid token abc123", "invalid token [secret]"),
            ("got 0123456789, dark theme", "got [secret], dark theme"),
            ("correct-horse of me", "[secret] of me"),
            ("the bearer of this", "the bearer of this"),
        ] {
            assert_eq!(redactor.redact(text), expected);
        }
    }

    #[test]
    fn short_values_and_none_leave_the_text_alone() {
        assert_eq!(redactor(&["", "a", "yes"]).redact("yes, a"), "yes, a");
        assert!(redactor(&[]).is_empty());
        assert!(!format!("{:?}", redactor(&["hunter22"])).contains("hunter"));
    }
}
