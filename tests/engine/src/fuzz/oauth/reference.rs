//! The rules for URLs and callbacks, written a second time and as plainly as possible.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the authority of a URL and what precedes it: `https`.
fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    Some((scheme, &rest[..end]))
}

/// Returns the scheme, the host and the port of a URL in lower case.
pub(super) fn origin(url: &str) -> Option<(String, String, u16)> {
    let (scheme, authority) = split(url)?;
    let scheme = scheme.to_ascii_lowercase();
    let port_at = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(port_at);
    let port = match port.trim_start_matches(':') {
        "" if scheme == "https" => 443,
        "" => 80,
        port => port.parse().ok()?,
    };
    Some((scheme, host.to_ascii_lowercase(), port))
}

/// Returns whether an OAuth request may go to the URL, or a browser open it. `is_local`: the MCP server is on this machine.
pub(super) fn is_allowed(url: &str, is_local: bool) -> bool {
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let Some((scheme, authority)) = split(url) else { return false };
    let Some((_, host, _)) = origin(url) else { return false };
    let is_https = scheme.eq_ignore_ascii_case("https");
    let is_loopback = scheme.eq_ignore_ascii_case("http") && is_local && is_this_machine(&host);
    is_plain && !authority.contains('@') && !host.is_empty() && (is_https || is_loopback)
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || (host != address && address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()))
}

/// Returns the values of a parameter of a callback, decoded. `None` if the address has no query.
pub(super) fn parameters(callback: &str) -> Option<Vec<(String, String)>> {
    let address = callback.trim().split('#').next()?;
    let (_, query) = address.split_once('?')?;
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    });
    Some(pairs.collect())
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let escaped =
            bytes.get(at + 1..at + 3).filter(|digits| bytes[at] == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        if let Some(digits) = escaped {
            let digits = std::str::from_utf8(digits).expect("hexadecimal digits");
            decoded.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits"));
            at += 3;
        } else {
            decoded.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
