//! Text encodings: `application/x-www-form-urlencoded` (bodies of requests, queries of URLs, and credentials in HTTP
//! Basic), base64url and hexadecimal.

use alloc::format;
use alloc::string::String;
use core::mem;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

/// Encodes bytes as base64url without padding, as JSON Web Tokens and PKCE require.
pub(crate) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// Encodes bytes as hexadecimal digits in lower case.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |text, byte| text + &format!("{byte:02x}"))
}

/// The media type of encoded forms.
pub(crate) const FORM_TYPE: &str = "application/x-www-form-urlencoded";

/// A form that is encoded while parameters are added. Its buffer is erased from memory when it is dropped or replaced.
///
/// `Debug` is missing on purpose, because forms contain codes and secrets.
#[derive(Clone, Default)]
pub(crate) struct Form(Zeroizing<String>);

impl Form {
    pub(crate) fn new() -> Self {
        Form::default()
    }

    /// Encodes and adds a parameter, and returns the form.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        // Each byte needs up to three characters. The separators `&` and `=` need two.
        let bytes = 3 * (name.len() + value.len()) + 2;
        if self.0.capacity() - self.0.len() < bytes {
            // `String` would not erase the old buffer when it grows.
            let mut larger = Zeroizing::new(String::with_capacity(2 * (self.0.len() + bytes)));
            larger.push_str(&self.0);
            self.0 = larger;
        }
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(byte_serialize(name.as_bytes()));
        self.0.push('=');
        self.0.extend(byte_serialize(value.as_bytes()));
        self
    }

    /// Adds a parameter, and returns the form. Without a value, the form stays unchanged.
    pub(crate) fn with_optional(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Returns the encoded form. The returned string is not erased from memory when it is dropped.
    pub(crate) fn into_string(mut self) -> String {
        mem::take(&mut *self.0)
    }
}

/// Encodes one name or value of a form.
pub(crate) fn encode(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// Decodes a form into pairs of name and value, in their order. Empty parameters are omitted.
///
/// A `%` without two hexadecimal digits stays unchanged. Bytes that are not UTF-8 become `U+FFFD`.
pub(crate) fn decode(form: &str) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(form.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use std::string::ToString;

    fn pairs(form: &str) -> Vec<(String, String)> {
        decode(form).collect()
    }

    #[test]
    fn a_form_encodes_all_but_letters_digits_and_four_signs() {
        let form = Form::new()
            .with("resource", "https://mcp.example.com/mcp?a=1&b=ä")
            .with_optional("scope", Some("a b+c"))
            .with_optional("state", None)
            .with("x", "*-._~");
        assert_eq!(
            form.into_string(),
            "resource=https%3A%2F%2Fmcp.example.com%2Fmcp%3Fa%3D1%26b%3D%C3%A4&scope=a+b%2Bc&x=*-._%7E"
        );
        assert_eq!(encode("a:b c"), "a%3Ab+c");
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        for text in ["", " ", "%", "+", "&=;", "%2", "%zz", "\0\n", "ä\u{1f600}", "https://a/?b=c#d"] {
            let form = Form::new().with(text, text).with("b", "c").into_string();
            assert_eq!(pairs(&form)[0], (text.to_string(), text.to_string()), "{form}");
        }
    }

    #[test]
    fn damaged_forms_are_read_as_far_as_possible() {
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(pairs(""), []);
        assert_eq!(pairs("&&a&"), [pair("a", "")]);
        assert_eq!(
            pairs("a=b=c&%=%4&%zz=%4g&é=%c3%a9"),
            [pair("a", "b=c"), pair("%", "%4"), pair("%zz", "%4g"), pair("é", "é")]
        );
        assert_eq!(pairs("a=%ff%41"), [pair("a", "\u{fffd}A")]);
        assert_eq!(pairs("a=1&a=2"), [pair("a", "1"), pair("a", "2")]);
    }
}
