//! The parts of URLs that an MCP client uses (a subset of RFC 3986).

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{Ipv4Addr, Ipv6Addr};

/// An absolute URL, split into scheme, authority and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    scheme: &'a str,
    authority: &'a str,
    /// Everything after the authority: path, query and fragment. May be empty.
    rest: &'a str,
}

impl<'a> Url<'a> {
    /// Splits a URL into its parts. Returns `None` if `://` or the authority is missing.
    ///
    /// A backslash ends the authority, as in browsers.
    pub fn split(url: &'a str) -> Option<Self> {
        let (scheme, after) = url.split_once("://")?;
        let end = after.find(['/', '?', '#', '\\']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        (!authority.is_empty()).then_some(Url { scheme, authority, rest })
    }

    /// Returns the host without user, password and port, or `None` if the host is empty. Keeps the brackets of an IPv6
    /// address.
    pub fn host(&self) -> Option<&'a str> {
        Some(self.host_and_port().0).filter(|host| !host.is_empty())
    }

    /// Returns the host and the port of the URL, without user and password. The port includes the `:` before it, and is
    /// empty if the URL has none.
    fn host_and_port(&self) -> (&'a str, &'a str) {
        // The host follows the last `@`. Attackers put a trusted name before the `@`, where it is only a user name.
        let host = self.authority.rsplit('@').next().unwrap_or_default();
        let end = match host.strip_prefix('[') {
            Some(inside) => inside.find(']').map_or(host.len(), |at| at + 2),
            None => host.find(':').unwrap_or(host.len()),
        };
        host.split_at(end)
    }

    fn is_http(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("http") || self.scheme.eq_ignore_ascii_case("https")
    }

    /// Returns the host and the TCP port to connect to, or `None` if the host is empty or the port is invalid.
    ///
    /// If the URL contains no port, the port is 443 for `https` and 80 for other schemes.
    fn endpoint(&self) -> Option<(&'a str, u16)> {
        let (host, port) = self.host_and_port();
        let default = if self.scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
        let port = match port {
            "" | ":" => default,
            port => port.strip_prefix(':')?.parse().ok()?,
        };
        (!host.is_empty()).then_some((host, port))
    }
}

/// Returns `url` without its fragment.
pub fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

/// Returns `url` without its query and fragment.
pub fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Returns whether HTTP requests can be sent to `url`.
///
/// The URL must be absolute, use `http` or `https`, and contain a host but no user or password. It may contain only
/// visible ASCII characters, and no backslash.
pub fn is_address(url: &str) -> bool {
    let is_plain = url.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !url.contains('\\');
    is_plain
        && Url::split(url).is_some_and(|url| url.is_http() && !url.authority.contains('@') && url.endpoint().is_some())
}

/// Returns whether two HTTP URLs have the same scheme, host and port (RFC 6454). Returns
/// `false` if one of them is not a valid HTTP URL.
pub fn same_origin(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (Url::split(one), Url::split(other)) else { return false };
    let same_host = match (one.endpoint(), other.endpoint()) {
        (Some((host, port)), Some((other, other_port))) => host.eq_ignore_ascii_case(other) && port == other_port,
        _ => false,
    };
    same_host && one.is_http() && one.scheme.eq_ignore_ascii_case(other.scheme)
}

/// Returns the host of an HTTP URL, without user, password and port. Keeps the brackets of an IPv6 address.
pub fn host(url: &str) -> Option<&str> {
    Url::split(url).filter(Url::is_http)?.host()
}

/// Returns the IPv4 address that browsers and resolvers read in the host of an HTTP URL, if it is written in another way. So
/// `0x7f.1` and `2130706433` are 127.0.0.1.
///
/// Such a host has one to four numbers, which may be octal or hexadecimal (WHATWG URL, "IPv4 parser"), or is an IPv6 address that
/// contains an IPv4 address.
pub fn disguised_ipv4(url: &str) -> Option<Ipv4Addr> {
    let host = host(url)?;
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().ok()?.to_ipv4_mapped();
    }
    let parts = host.strip_suffix('.').unwrap_or(host).split('.');
    let numbers = parts.map(number).collect::<Option<Vec<u32>>>()?;
    let (last, first) = numbers.split_last().filter(|(_, first)| first.len() <= 3)?;
    let mut address = 0;
    for (at, number) in first.iter().enumerate() {
        address |= u32::from(u8::try_from(*number).ok()?) << (24 - 8 * at);
    }
    // The last number takes the place of all bytes that are left.
    let is_in_place = u64::from(*last) < 1 << (32 - 8 * first.len());
    let address = Ipv4Addr::from_bits(address | *last);
    (is_in_place && address.to_string() != host).then_some(address)
}

/// Parses a number of a host: decimal, octal after `0`, or hexadecimal after `0x`.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    match digits {
        "" if radix == 16 => Some(0),
        // `from_str_radix` would accept a sign.
        _ if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) => None,
        _ => u32::from_str_radix(digits, radix).ok(),
    }
}

/// Splits an HTTP URL after its authority: returns the scheme and authority, and then the path, query and fragment.
pub fn split_origin(url: &str) -> Option<(&str, &str)> {
    let rest = Url::split(url).filter(Url::is_http)?.rest;
    url.split_at_checked(url.len() - rest.len())
}

/// Resolves a URI reference against the URL `base` (RFC 3986, section 5.2), and removes the fragment.
///
/// Returns `None` if `base` is not an HTTP URL, or if HTTP requests cannot be sent to the resulting URL.
pub fn resolve(base: &str, reference: &str) -> Option<String> {
    let base = Url::split(base).filter(Url::is_http)?;
    let reference = without_fragment(reference);
    let resolved = if has_scheme(reference) {
        reference.to_string()
    } else if let Some(authority) = reference.strip_prefix("//") {
        alloc::format!("{}://{authority}", base.scheme)
    } else {
        let own = without_fragment(base.rest);
        let path = without_query(own);
        let target = match reference.as_bytes().first() {
            None => own.to_string(),
            Some(b'?') => path.to_string() + reference,
            Some(b'/') => without_dots(reference),
            Some(_) => without_dots(&(path[..path.rfind('/').map_or(0, |at| at + 1)].to_string() + reference)),
        };
        let slash = if target.starts_with('/') { "" } else { "/" };
        alloc::format!("{}://{}{slash}{target}", base.scheme, base.authority)
    };
    is_address(&resolved).then_some(resolved)
}

fn has_scheme(reference: &str) -> bool {
    let Some(colon) = reference.find(':') else { return false };
    let scheme = &reference[..colon];
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Removes the `.` and `..` segments from the path of a request target (RFC 3986, section 5.2.4). The query does not
/// change.
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
    fn a_url_is_split_after_its_authority() {
        assert_eq!(split_origin("HTTPS://Host:1/a?b#c"), Some(("HTTPS://Host:1", "/a?b#c")));
        assert_eq!(split_origin("http://host"), Some(("http://host", "")));
        assert_eq!(split_origin("http://host?a"), Some(("http://host", "?a")));
        assert_eq!(split_origin("ftp://host/a"), None);
        assert_eq!(host("https://user@Host:1/a"), Some("Host"));
        assert_eq!(host("http://[::1]:80/a"), Some("[::1]"));
        assert_eq!((host("http://:80/"), host("host")), (None, None));
    }

    #[test]
    fn addresses_in_disguise() {
        for host in
            ["0x7f.1", "2130706433", "0177.0.0.1", "0X7F000001", "127.1", "127.0.1", "127.0.0.1.", "127.0.0.0x1"]
        {
            let url = alloc::format!("https://{host}:8080/mcp");
            assert_eq!(disguised_ipv4(&url), Some(Ipv4Addr::LOCALHOST), "{host}");
        }
        assert_eq!(disguised_ipv4("http://user@0x/"), Some(Ipv4Addr::UNSPECIFIED));
        assert_eq!(disguised_ipv4("http://0xffffffff"), Some(Ipv4Addr::BROADCAST));
        assert_eq!(disguised_ipv4("http://[::ffff:7f00:1]/"), Some(Ipv4Addr::LOCALHOST));
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "0x7f.example",
            "1.2.3.4.5",
            "256.1",
            "1.256.1",
            "1.2.65536",
            "4294967296",
            "0x100000000",
            "08.1",
            "+1.1",
            "1..1",
            ".1",
            "0xg",
            "1.2.3.4a",
            "xn--pypal-4ve.example",
        ] {
            assert_eq!(disguised_ipv4(&alloc::format!("http://{host}/")), None, "{host}");
        }
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
        assert!(!is_address("http://host\\@evil/"), "browsers and RFC 3986 read it differently");
        assert!(is_address("http://localhost:1234") && is_address("https://a.b/c?d"));
        assert!(!is_address("http://[::1]x:80/") && !is_address("http://a:1:2/"));
        for bad in ["", "host/a", "http://", "http://:80/", "http://a:x/", "http://a:99999/", "ws://a/"] {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
