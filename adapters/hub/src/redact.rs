//! [`Redactor`]: removes secrets from text, also from text that arrives in pieces.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::secrets::Secret;

/// Text in the place of a secret. It does not show the length of the secret.
const MARK: &str = "[secret]";

/// Minimum length of a value to replace, in bytes. Shorter texts are parts of ordinary words.
const SHORTEST: usize = 4;

/// Minimum length of a line that is replaced by itself, if the value has several lines, such as a private key.
const SHORTEST_LINE: usize = 12;

/// Minimum length of a part that is replaced by itself: a word of a header such as `Bearer TOKEN`, or the value of a cookie.
/// Shorter parts, such as the name of the scheme, are ordinary words.
const SHORTEST_PART: usize = 8;

/// Characters between the parts of a credential.
const SEPARATORS: [char; 9] = [' ', '\t', ',', ';', '=', ':', '&', '"', '\''];

/// Authentication schemes. The text after one is a credential, even if it is shorter than [`SHORTEST_PART`].
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "digest", "apikey"];

/// Replaces secrets by `[secret]`.
///
/// A value is found as it is, escaped in JSON, percent-encoded, and in base64. Parts are found by themselves: the credential
/// of `Bearer TOKEN`, the user and password of `Basic` credentials and addresses, longer words, and longer lines.
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
    patterns: Arc<Patterns>,
}

/// The texts to replace, longest first, so that the whole of a secret is replaced and not only its beginning.
#[derive(Default)]
struct Patterns(Vec<Zeroizing<Vec<u8>>>);

impl Redactor {
    /// Creates a redactor for these values. Values of less than 4 bytes are not replaced.
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        let mut patterns = Patterns::default();
        for value in values {
            patterns.add_value(value.expose());
        }
        patterns.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        patterns.0.dedup();
        Redactor { patterns: Arc::new(patterns) }
    }

    /// Returns whether there is nothing to replace.
    pub fn is_empty(&self) -> bool {
        self.patterns.0.is_empty()
    }

    /// Returns the text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        let mut stream = self.stream();
        stream.push(text.as_bytes(), &mut out);
        stream.finish(&mut out);
        // Patterns consist of whole characters, so the rest does too.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Returns a redactor for a text that arrives in pieces.
    pub fn stream(&self) -> RedactStream {
        RedactStream { redactor: self.clone(), held: Zeroizing::new(Vec::new()) }
    }
}

impl Patterns {
    /// Adds a value, with its parts.
    fn add_value(&mut self, value: &str) {
        self.add_all_forms(value, SHORTEST);
        if let Some((scheme, credential)) = value.trim().split_once(' ')
            && SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
        {
            let credential = credential.trim();
            self.add_all_forms(credential, SHORTEST);
            if let Some(user_and_password) = STANDARD.decode(credential).ok().and_then(|it| String::from_utf8(it).ok())
            {
                self.add_login(&Zeroizing::new(user_and_password));
            }
        }
        if let Some((_, rest)) = value.split_once("://") {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            if let Some((login, _)) = authority.rsplit_once('@') {
                self.add_login(login);
                self.add_login(&percent_decoded(login));
            }
        }
        for part in value.split(SEPARATORS).filter(|part| part.len() < value.len()) {
            self.add_all_forms(part, SHORTEST_PART);
        }
        if value.contains('\n') {
            for line in value.lines() {
                self.add(line.as_bytes(), SHORTEST_LINE);
            }
        }
    }

    /// Adds `user:password`, and the password by itself.
    fn add_login(&mut self, login: &str) {
        self.add_all_forms(login, SHORTEST);
        if let Some((_, password)) = login.split_once(':') {
            self.add_all_forms(password, SHORTEST);
        }
    }

    /// Adds a text as it is, and as JSON, addresses and base64 contain it.
    fn add_all_forms(&mut self, text: &str, shortest: usize) {
        self.add(text.as_bytes(), shortest);
        if text.len() < shortest {
            return;
        }
        self.add(json_escaped(text).as_bytes(), shortest);
        self.add(json_escaped_to_ascii(text).as_bytes(), shortest);
        for plain in ["-._~", "-._~!*'()"] {
            for uppercase in [true, false] {
                self.add(percent_encoded(text, plain, uppercase).as_bytes(), shortest);
            }
        }
        // Forms: `application/x-www-form-urlencoded`.
        let form = Zeroizing::new(percent_encoded(text, "-._* ", true).replace(' ', "+"));
        self.add(form.as_bytes(), shortest);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            self.add(Zeroizing::new(engine.encode(text)).as_bytes(), shortest);
        }
    }

    fn add(&mut self, pattern: &[u8], shortest: usize) {
        if pattern.len() >= shortest {
            self.0.push(Zeroizing::new(pattern.to_vec()));
        }
    }

    /// Returns whether a pattern starts with this byte. Most bytes of a text are passed on after this check.
    fn any_starts_with(&self, byte: u8) -> bool {
        self.0.iter().any(|pattern| pattern[0] == byte)
    }

    /// Returns the length of the longest pattern with which these bytes start.
    fn longest_at_start(&self, bytes: &[u8]) -> Option<usize> {
        self.0.iter().find(|pattern| bytes.starts_with(pattern)).map(|pattern| pattern.len())
    }

    /// Returns whether these bytes are the start of a longer pattern.
    fn is_start_of_one(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.len() > bytes.len() && pattern.starts_with(bytes))
    }
}

/// Returns the text as it is between the quotes of a JSON string.
fn json_escaped(text: &str) -> Zeroizing<String> {
    let json = Zeroizing::new(serde_json::to_string(text).unwrap_or_default());
    Zeroizing::new(json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned())
}

/// As [`json_escaped`], with `\/`, and with `\u` escapes of all characters beyond ASCII, as other languages write JSON.
fn json_escaped_to_ascii(text: &str) -> Zeroizing<String> {
    use fmt::Write as _;
    let mut escaped = Zeroizing::new(String::new());
    for c in json_escaped(text).chars() {
        match c {
            '/' => escaped.push_str("\\/"),
            c if c.is_ascii() => escaped.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            }
        }
    }
    escaped
}

/// Returns the text as an address contains it. Letters, digits and the characters of `plain` are not escaped.
fn percent_encoded(text: &str, plain: &str, uppercase: bool) -> Zeroizing<String> {
    use fmt::Write as _;
    let mut encoded = Zeroizing::new(String::with_capacity(text.len() * 3));
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.as_bytes().contains(&byte) {
            encoded.push(byte.into());
        } else if uppercase {
            let _ = write!(encoded, "%{byte:02X}");
        } else {
            let _ = write!(encoded, "%{byte:02x}");
        }
    }
    encoded
}

/// Returns the text without percent-encoding. Invalid escapes stay.
pub(crate) fn percent_decoded(text: &str) -> Zeroizing<String> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    let mut decoded = Zeroizing::new(Vec::with_capacity(bytes.len()));
    while let Some(byte) = bytes.get(at) {
        let escape = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        if let Some(byte) = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            decoded.push(byte);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    Zeroizing::new(String::from_utf8_lossy(&decoded).into_owned())
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("patterns", &self.patterns.0.len()).finish()
    }
}

/// Redacts a text that arrives in pieces.
///
/// Only the end of a piece that may be the start of a secret is held back until the next piece arrives.
pub struct RedactStream {
    redactor: Redactor,
    held: Zeroizing<Vec<u8>>,
}

impl RedactStream {
    /// Takes a piece of the text, and appends to `out` what can be shown already.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.redactor.is_empty() {
            out.extend_from_slice(bytes);
            return;
        }
        self.held.extend_from_slice(bytes);
        self.take(out, false);
    }

    /// Ends the text, and appends the rest to `out`.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.take(out, true);
    }

    fn take(&mut self, out: &mut Vec<u8>, is_end: bool) {
        let patterns = &self.redactor.patterns;
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let plain = rest.iter().position(|byte| patterns.any_starts_with(*byte)).unwrap_or(rest.len());
            if plain > 0 {
                out.extend_from_slice(&rest[..plain]);
                at += plain;
                continue;
            }
            // A longer secret may follow, which starts with a shorter one.
            if !is_end && patterns.is_start_of_one(rest) {
                break;
            }
            if let Some(length) = patterns.longest_at_start(rest) {
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
    fn a_secret_is_replaced_however_it_is_split() {
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
    fn encoded_secrets_are_replaced() {
        let redactor = redactor(&["Basic bWU6cC9zcyB3w7ZyZA==", "postgres://admin:s3%2Fcret@db/x", "tok/en+é f"]);
        for (text, expected) in [
            ("base64 bWU6cC9zcyB3w7ZyZA==", "base64 [secret]"),
            ("user me:p/ss wörd", "user [secret]"),
            ("password p/ss wörd", "password [secret]"),
            ("?p=p%2Fss%20w%C3%B6rd&x", "?p=[secret]&x"),
            ("?p=p%2fss%20w%c3%b6rd&x", "?p=[secret]&x"),
            ("p=p%2Fss+w%C3%B6rd", "p=[secret]"),
            (r#"{"p":"p\/ss w\u00f6rd"}"#, r#"{"p":"[secret]"}"#),
            ("password s3/cret or s3%2Fcret", "password [secret] or [secret]"),
            ("Authorization: Basic YWRtaW46czMvY3JldA==", "Authorization: Basic [secret]=="),
            ("dG9rL2VuK8OpIGY", "[secret]"),
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
