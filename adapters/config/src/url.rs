//! Splits, checks and percent-encodes URLs and the addresses of proxies, which may lack a scheme.

use std::fmt::Write as _;

use zeroize::Zeroizing;

/// Returns the authority of `url`: the host with its port, and the user and password before the host if there are any.
pub(crate) fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns the user and the password in `url`, or `None` if the URL contains no user.
pub(crate) fn login(url: &str) -> Option<&str> {
    authority(url).rsplit_once('@').map(|(login, _)| login)
}

/// Returns whether `url` contains a password that is not empty.
pub(crate) fn has_password(url: &str) -> bool {
    login(url).and_then(|login| login.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
}

/// Returns whether `url` is a URL to which the hub can send requests: absolute, with `http` or `https` and a host, without user,
/// password, and characters that are invalid in URLs, such as braces.
pub(crate) fn is_address(url: &str) -> bool {
    mcpwire_text::url::is_address(url) && !url.contains(['{', '}', '<', '>', '"'])
}

/// Returns `url` without the parts that may be secret: user and password, query and fragment. `?…` replaces the query.
pub(crate) fn shown_address(url: &str) -> String {
    let (address, query) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let query = if query.is_empty() { "" } else { "?…" };
    let Some((scheme, rest)) = address.split_once("://") else { return format!("{address}{query}") };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}{query}")
}

/// Decodes the percent-encoding of `text`. Invalid escapes such as `%zz` stay as they are.
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

/// Percent-encodes `text` as in a URL. Letters, digits and the characters in `plain` are not encoded. `uppercase` selects `%2F`
/// instead of `%2f`.
pub(crate) fn percent_encoded(text: &str, plain: &str, uppercase: bool) -> Zeroizing<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_requests_can_be_sent_to() {
        for good in ["http://a", "HTTPS://a.b:8080/x?y#z", "http://[::1]:80/", "http://127.0.0.1:1"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "ftp://a",
            "http://",
            "http:///x",
            "http://u:p@a",
            "http://a:b",
            "http://a:99999",
            "http://a b",
            "//a",
            "a",
            "",
            "http://:80",
            "http://a\\b",
            "http://a\r\nHost: b",
            "file:///etc/passwd",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
        assert_eq!(shown_address("https://me:hunter1@a/b?key=hunter2"), "https://a/b?…");
    }
}
