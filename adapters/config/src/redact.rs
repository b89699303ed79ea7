//! [`Redactor`]: removes secrets from text, also from text that arrives in pieces.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

use crate::secrets::Secret;
use crate::url::{login, percent_decoded, percent_encoded};

/// The text that replaces each secret. Its length does not depend on the length of the secret.
const MARK: &str = "[secret]";

/// Minimum length of a secret to replace, in bytes. Shorter secrets could also be parts of ordinary words, so they are not
/// replaced.
const SHORTEST: usize = 4;

/// Minimum length of a line to replace, in bytes, if the secret has several lines, such as a private key. Each line of the
/// secret is replaced even where the other lines are absent.
const SHORTEST_LINE: usize = 12;

/// Minimum length of a part of a secret to replace, in bytes. Parts are the words of a header such as `Bearer TOKEN`, or the
/// values of a cookie. Shorter parts are usually ordinary words.
const SHORTEST_PART: usize = 8;

/// The characters at which a secret is split into parts, such as the values of a cookie.
const SEPARATORS: [char; 9] = [' ', '\t', ',', ';', '=', ':', '&', '"', '\''];

/// Names of HTTP authentication schemes. The text after the name is a credential, and is replaced even if it is shorter than
/// [`SHORTEST_PART`].
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "digest", "apikey"];

/// Replaces secrets in a text by `[secret]`.
///
/// A secret is also found if it is escaped as in JSON, percent-encoded as in a URL, or encoded in base64. Some parts of a
/// secret are replaced too: the credential of `Bearer TOKEN`, the user and password in `Basic` credentials and URLs, long
/// words, and long lines.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod redact { pub use mcpwire_config::redact::Redactor; } } }
/// use mcpwire::hub::redact::Redactor;
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
pub struct Redactor(Arc<RwLock<Known>>);

/// The secrets that the clones of a [`Redactor`] share.
#[derive(Default)]
struct Known {
    /// The secrets that do not change.
    fixed: Vec<Secret>,
    /// Returns the secrets that change, such as the tokens of a login.
    changing: Option<Box<dyn Fn() -> Vec<Secret> + Send + Sync>>,
    /// The secrets that the last call of `changing` returned, to notice a change. `patterns` contains them.
    last: Vec<Secret>,
    patterns: Arc<Patterns>,
}

/// The byte strings to replace, longest first. This order replaces a whole secret, and not only a shorter secret with which it
/// starts.
#[derive(Default)]
struct Patterns(Vec<Zeroizing<Vec<u8>>>);

impl Redactor {
    /// Creates a redactor that replaces the secrets `values`. Values of less than 4 bytes are not replaced.
    pub fn new(values: impl IntoIterator<Item = Secret>) -> Self {
        let fixed: Vec<Secret> = values.into_iter().collect();
        let patterns = Arc::new(Patterns::new(&fixed));
        Redactor(Arc::new(RwLock::new(Known { fixed, patterns, ..Known::default() })))
    }

    /// Also replaces secrets that change, such as the tokens of a login. The redactor and all its clones call `changing` for each
    /// text, and replace the secrets that it returns.
    pub fn also(&self, changing: impl Fn() -> Vec<Secret> + Send + Sync + 'static) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.changing = Some(Box::new(changing));
    }

    fn patterns(&self) -> Arc<Patterns> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            let now = known.changing.as_ref().map(|changing| changing()).unwrap_or_default();
            if now == known.last {
                return Arc::clone(&known.patterns);
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.last = known.changing.as_ref().map(|changing| changing()).unwrap_or_default();
        known.patterns = Arc::new(Patterns::new(known.fixed.iter().chain(&known.last)));
        Arc::clone(&known.patterns)
    }

    /// Returns `true` if the redactor has no secrets to replace.
    pub fn is_empty(&self) -> bool {
        self.patterns().0.is_empty()
    }

    /// Returns a copy of `text` in which each secret is replaced by `[secret]`.
    pub fn redact(&self, text: &str) -> String {
        let mut out = Vec::with_capacity(text.len());
        let mut stream = self.stream();
        stream.push(text.as_bytes(), &mut out);
        stream.finish(&mut out);
        // The patterns are valid UTF-8, so the text that remains is valid UTF-8 too.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Returns a redactor for a text that arrives in pieces, such as the output of a server.
    pub fn stream(&self) -> RedactStream {
        RedactStream { redactor: self.clone(), held: Zeroizing::new(Vec::new()) }
    }
}

impl Patterns {
    fn new<'s>(values: impl IntoIterator<Item = &'s Secret>) -> Self {
        let mut patterns = Patterns::default();
        for value in values {
            patterns.add_value(value.expose());
        }
        patterns.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        patterns.0.dedup();
        patterns
    }

    /// Adds the secret `value` to the texts to replace, and also its parts, such as a token or a password in it.
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
        if value.contains("://")
            && let Some(login) = login(value)
        {
            self.add_login(login);
            self.add_login(&percent_decoded(login));
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

    /// Adds `login`, a text of the form `user:password`, to the texts to replace. Also adds the password alone.
    fn add_login(&mut self, login: &str) {
        self.add_all_forms(login, SHORTEST);
        if let Some((_, password)) = login.split_once(':') {
            self.add_all_forms(password, SHORTEST);
        }
    }

    /// Adds `text` to the texts to replace, and also its forms in JSON, URLs and base64. Ignores texts shorter than `shortest`
    /// bytes.
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
        // HTML forms are encoded as `application/x-www-form-urlencoded`.
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

    /// Returns whether a text to replace starts with `byte`. This quick check lets most bytes pass without a comparison of
    /// whole secrets.
    fn any_starts_with(&self, byte: u8) -> bool {
        self.0.iter().any(|pattern| pattern[0] == byte)
    }

    /// Returns the length of the longest text to replace that `bytes` starts with, or `None` if `bytes` starts with no such text.
    fn longest_at_start(&self, bytes: &[u8]) -> Option<usize> {
        self.0.iter().find(|pattern| bytes.starts_with(pattern)).map(|pattern| pattern.len())
    }

    /// Returns whether `bytes` is the beginning of a longer text to replace. If so, more bytes are needed to decide.
    fn is_start_of_one(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|pattern| pattern.len() > bytes.len() && pattern.starts_with(bytes))
    }
}

/// Escapes `text` as in a JSON string, without the quotes around it.
fn json_escaped(text: &str) -> Zeroizing<String> {
    let json = Zeroizing::new(serde_json::to_string(text).unwrap_or_default());
    Zeroizing::new(json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned())
}

/// Escapes `text` as in a JSON string, with `\/` for slashes and `\u` escapes for all characters beyond ASCII. JSON writers of
/// some other languages do that.
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

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("patterns", &self.patterns().0.len()).finish()
    }
}

/// Replaces the secrets in a text that arrives in pieces, such as the output of a server.
///
/// The end of a piece is held back only if it may be the beginning of a secret. The next piece then decides.
pub struct RedactStream {
    redactor: Redactor,
    held: Zeroizing<Vec<u8>>,
}

impl RedactStream {
    /// Processes the next piece of the text. Appends the redacted text to `out`, except an end that may be the beginning of a
    /// secret.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let patterns = self.redactor.patterns();
        if patterns.0.is_empty() {
            out.append(&mut self.held);
            out.extend_from_slice(bytes);
            return;
        }
        self.held.extend_from_slice(bytes);
        self.take(&patterns, out, false);
    }

    /// Ends the text. Appends the text that was held back to `out`, redacted.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let patterns = self.redactor.patterns();
        self.take(&patterns, out, true);
    }

    fn take(&mut self, patterns: &Patterns, out: &mut Vec<u8>, is_end: bool) {
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let plain = rest.iter().position(|byte| patterns.any_starts_with(*byte)).unwrap_or(rest.len());
            if plain > 0 {
                out.extend_from_slice(&rest[..plain]);
                at += plain;
                continue;
            }
            // A longer secret may begin here, so wait for more bytes before a shorter secret is replaced.
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
    fn secrets_that_change_are_replaced_by_all_clones_also_in_a_stream_that_has_begun() {
        let current = Arc::new(std::sync::Mutex::new(vec![Secret::new("first-token")]));
        let redactor = redactor(&["hunter22"]);
        let (clone, read) = (redactor.clone(), Arc::clone(&current));
        let (mut stream, mut out) = (clone.stream(), Vec::new());
        stream.push(b"first-token, ", &mut out);
        redactor.also(move || read.lock().unwrap().clone());
        assert_eq!(clone.redact("first-token second-token hunter22"), "[secret] second-token [secret]");
        current.lock().unwrap().push(Secret::new("second-token"));
        assert_eq!(clone.redact("first-token second-token hunter22"), "[secret] [secret] [secret]");
        stream.push(b"second-token.", &mut out);
        stream.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "first-token, [secret].");
    }

    #[test]
    fn short_values_and_none_leave_the_text_alone() {
        assert_eq!(redactor(&["", "a", "yes"]).redact("yes, a"), "yes, a");
        assert!(redactor(&[]).is_empty());
        assert!(!format!("{:?}", redactor(&["hunter22"])).contains("hunter"));
    }
}
