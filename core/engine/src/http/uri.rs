//! As much of URIs as the transport needs: whose they are, and what a reference in them means (RFC 3986).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The parts of an absolute `http` or `https` URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts<'a> {
    scheme: &'a str,
    authority: &'a str,
    /// From the first `/`, `?` or `#` on.
    rest: &'a str,
}

fn split(uri: &str) -> Option<Parts<'_>> {
    let (scheme, after) = uri.split_once("://")?;
    if !(scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")) {
        return None;
    }
    let end = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(end);
    (!authority.is_empty()).then_some(Parts { scheme, authority, rest })
}

/// Whether a text is an address to which requests can be sent: absolute, `http` or `https`, without user and password, and
/// without anything that cannot stand in the first line of a request.
pub(super) fn is_address(uri: &str) -> bool {
    let plain = uri.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !uri.contains('\\');
    plain && split(uri).is_some_and(|parts| !parts.authority.contains('@') && host_and_port(parts).is_some())
}

fn host_and_port(parts: Parts<'_>) -> Option<(&str, u16)> {
    let default = if parts.scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    let colon = parts.authority.rfind(':').filter(|at| !parts.authority[*at..].contains(']'));
    let (host, port) = match colon {
        Some(at) => (&parts.authority[..at], &parts.authority[at + 1..]),
        None => (parts.authority, ""),
    };
    let port = if port.is_empty() { default } else { port.parse().ok()? };
    (!host.is_empty()).then_some((host, port))
}

/// Whether two absolute URIs have scheme, host and port in common (RFC 6454).
pub(super) fn same_origin(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (split(one), split(other)) else { return false };
    let same_host = match (host_and_port(one), host_and_port(other)) {
        (Some((host, port)), Some((other, other_port))) => host.eq_ignore_ascii_case(other) && port == other_port,
        _ => false,
    };
    same_host && one.scheme.eq_ignore_ascii_case(other.scheme)
}

/// What `reference` means in a document at `base` (RFC 3986, section 5.2), without a fragment. `None` if one of them is no URI that
/// requests can be sent to.
pub(super) fn resolve(base: &str, reference: &str) -> Option<String> {
    let parts = split(base)?;
    let reference = reference.split('#').next().unwrap_or_default();
    let resolved = if has_scheme(reference) {
        reference.to_string()
    } else if let Some(authority) = reference.strip_prefix("//") {
        alloc::format!("{}://{authority}", parts.scheme)
    } else {
        let own = parts.rest.split('#').next().unwrap_or_default();
        let path = own.split('?').next().unwrap_or_default();
        let target = match reference.as_bytes().first() {
            None => own.to_string(),
            Some(b'?') => path.to_string() + reference,
            Some(b'/') => without_dots(reference),
            Some(_) => without_dots(&(path[..path.rfind('/').map_or(0, |at| at + 1)].to_string() + reference)),
        };
        let slash = if target.starts_with('/') { "" } else { "/" };
        alloc::format!("{}://{}{slash}{target}", parts.scheme, parts.authority)
    };
    is_address(&resolved).then_some(resolved)
}

fn has_scheme(reference: &str) -> bool {
    let Some(colon) = reference.find(':') else { return false };
    let scheme = &reference[..colon];
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// A path without `.` and `..` (RFC 3986, section 5.2.4); its query stays.
fn without_dots(target: &str) -> String {
    let (path, query) = match target.find('?') {
        Some(at) => target.split_at(at),
        None => (target, ""),
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.trim_start_matches('/').split('/').peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    alloc::format!("/{}{query}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_in_all_their_forms() {
        let base = "http://host:8080/a/sse?x=1#f";
        for (reference, meaning) in [
            ("/messages?sessionId=1", Some("http://host:8080/messages?sessionId=1")),
            ("messages", Some("http://host:8080/a/messages")),
            ("./messages", Some("http://host:8080/a/messages")),
            ("../m/./n?q=..", Some("http://host:8080/m/n?q=..")),
            ("../../../m", Some("http://host:8080/m")),
            ("?y=2", Some("http://host:8080/a/sse?y=2")),
            ("", Some("http://host:8080/a/sse?x=1")),
            ("http://other/m", Some("http://other/m")),
            ("//other/m", Some("http://other/m")),
            ("/m?u=http://x/", Some("http://host:8080/m?u=http://x/")),
            ("ftp://other/m", None),
            ("javascript:alert(1)", None),
            ("/a b", None),
            ("/a\r\nX: y", None),
            ("http://user@host:8080/m", None),
            ("http:///m", None),
        ] {
            assert_eq!(resolve(base, reference).as_deref(), meaning, "{reference}");
        }
        assert_eq!(resolve("http://host", "m").as_deref(), Some("http://host/m"));
        assert_eq!(resolve("file:///a", "/m"), None);
    }

    #[test]
    fn origins() {
        for (one, other, same) in [
            ("http://host/a", "HTTP://HOST:80/b", true),
            ("https://host/a", "https://host:443", true),
            ("http://host/a", "https://host/a", false),
            ("http://host/a", "http://host:8080/a", false),
            ("http://host/a", "http://host.evil/a", false),
            ("http://[::1]:80/a", "http://[::1]/b", true),
            ("http://host\\@evil/", "http://host/", true),
        ] {
            assert_eq!(same_origin(one, other), same, "{one} {other}");
        }
        assert!(!is_address("http://host\\@evil/"), "what is read in two ways is no address");
        assert!(is_address("http://localhost:1234") && is_address("https://a.b/c?d"));
        for bad in ["", "host/a", "http://", "http://:80/", "http://a:x/", "http://a:99999/", "ws://a/"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
