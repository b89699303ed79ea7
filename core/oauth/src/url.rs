//! Checks which URLs a client may request or open, and derives URLs from others.
//!
//! A derived URL contains the bytes of the original URL unchanged. Only [`canonical_resource`] changes the case of
//! letters.

use alloc::format;
use alloc::string::{String, ToString};
use core::net::{Ipv4Addr, Ipv6Addr};

use mcpwire_text::url::{host, is_address, same_origin, split_origin, without_fragment, without_query};

/// Maximum length of a URL that a server names, in bytes. Longer URLs are refused.
pub(crate) const MAX_URL: usize = 4096;

/// Returns whether the host of a URL is this machine: `localhost`, `127.0.0.0/8` or `[::1]`.
pub(crate) fn is_loopback(url: &str) -> bool {
    let Some(host) = host(url) else { return false };
    if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback());
    }
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
}

/// Returns whether the scheme of a URL is `https`.
pub(crate) fn is_https(url: &str) -> bool {
    url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

/// Returns whether a client may send OAuth requests to `url`, or open it in a browser (security best practices,
/// "Authorization URL Validation").
///
/// The URL must be a valid address of at most [`MAX_URL`] bytes. Its scheme must be `https`, or `http` if its host is
/// this machine.
pub(crate) fn is_secure(url: &str) -> bool {
    url.len() <= MAX_URL && is_address(url) && has_plain_host(url) && (is_https(url) || is_loopback(url))
}

/// Returns whether all programs parse the host of a URL in the same way: it is a name of letters, digits, `-`, `.` and
/// `_`, or an IPv6 address in brackets. Browsers decode `%` in hosts, and programs handle other characters differently.
fn has_plain_host(url: &str) -> bool {
    let Some(host) = host(url) else { return false };
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
    }
}

/// Returns whether a client may use `url` for the MCP server at `server_url`. The URL must pass [`is_secure`], and may
/// use `http` only if the MCP server is also on this machine. This prevents a remote server from directing a client to
/// local programs that listen without TLS.
pub(crate) fn is_secure_for(url: &str, server_url: &str) -> bool {
    is_secure(url) && (is_https(url) || is_loopback(server_url))
}

/// Returns whether `url` is valid as a redirect URI: `https`, or `http` to this machine, without a fragment.
pub(crate) fn is_redirect_uri(url: &str) -> bool {
    is_secure(url) && !url.contains('#')
}

/// Returns the well-known URL `name` for `url`: the path and query of `url` follow the name (RFC 8414, section 3.1, and
/// RFC 9728, section 3.1). One slash at the end of the path is removed. `None` if `url` is invalid.
pub(crate) fn well_known(url: &str, name: &str) -> Option<String> {
    let (origin, rest) = split_origin(without_fragment(url))?;
    let (path, query) = split_query(rest);
    let path = path.strip_suffix('/').unwrap_or(path);
    Some(format!("{origin}/.well-known/{name}{path}{query}"))
}

/// Returns the well-known URL `name` below the path of `url` (OpenID Connect Discovery, section 4). `None` if `url` is
/// invalid.
pub(crate) fn well_known_below(url: &str, name: &str) -> Option<String> {
    let (origin, path) = split_origin(without_query(url))?;
    let path = path.strip_suffix('/').unwrap_or(path);
    Some(format!("{origin}{path}/.well-known/{name}"))
}

/// Returns the scheme, host and port of `url`. `None` if `url` is invalid.
pub(crate) fn origin(url: &str) -> Option<&str> {
    split_origin(url).map(|(origin, _)| origin)
}

/// Returns whether `url` has a path other than `/`.
pub(crate) fn has_path(url: &str) -> bool {
    split_origin(without_query(url)).is_some_and(|(_, path)| !matches!(path, "" | "/"))
}

/// Returns the canonical URI of a server (basic/authorization, "Canonical Server URI"). Scheme and host are in lower
/// case. Query, fragment and the slash of an empty path are removed. `None` if the URL is invalid.
///
/// The query is removed because it often contains a key. RFC 8707 also advises against a query.
pub(crate) fn canonical_resource(server_url: &str) -> Option<String> {
    let (origin, path) = split_origin(without_query(server_url))?;
    let path = if path == "/" { "" } else { path };
    Some(origin.to_ascii_lowercase() + path)
}

/// Returns whether a resource includes a server: both have the same origin, and the resource has the path of the server
/// or of a parent.
pub(crate) fn covers(resource: &str, server_url: &str) -> bool {
    path_below(resource, server_url).is_some()
}

/// Returns whether a resource is exactly a server: same origin and path, ignoring a slash at the end (RFC 9728, section
/// 3.3).
pub(crate) fn is_resource_of(resource: &str, server_url: &str) -> bool {
    path_below(resource, server_url).is_some_and(|below| matches!(below, "" | "/"))
}

/// Returns the part of the server's path below the path of the resource. `None` if the resource does not include the
/// server.
fn path_below<'a>(resource: &str, server_url: &'a str) -> Option<&'a str> {
    let ((_, resource_rest), (_, server_rest)) = (split_origin(resource)?, split_origin(server_url)?);
    let (resource_path, query) = split_query(resource_rest);
    let (server_path, server_query) = split_query(without_fragment(server_rest));
    let resource_path = resource_path.strip_suffix('/').unwrap_or(resource_path);
    let below = server_path.strip_prefix(resource_path).filter(|below| below.is_empty() || below.starts_with('/'))?;
    let is_covered = is_address(resource)
        && !resource.contains('#')
        && same_origin(resource, server_url)
        && (query.is_empty() || query == server_query);
    is_covered.then_some(below)
}

/// Adds form-encoded parameters to the query of a URL. A fragment is removed.
pub(crate) fn with_query(url: &str, parameters: &str) -> String {
    let url = without_fragment(url);
    let separator = match url.bytes().last() {
        Some(b'?' | b'&') => "",
        _ if url.contains('?') => "&",
        _ => "?",
    };
    url.to_string() + separator + parameters
}

fn split_query(rest: &str) -> (&str, &str) {
    rest.split_at(rest.find('?').unwrap_or(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z4_b2_b5_only_https_or_http_to_this_machine_is_secure_and_no_script_file_or_data() {
        for url in [
            "https://as.example",
            "HTTPS://As.example:8443/a?b",
            "http://localhost:1/cb",
            "http://127.9.0.1/",
            "http://[::1]:80/",
            "https://[2001:db8::1]/",
            "https://a_b-c.example./",
        ] {
            assert!(is_secure(url), "{url}");
        }
        let long = "https://as.example/".to_string() + &"a".repeat(MAX_URL);
        for url in [
            "http://as.example/",
            "http://localhost.evil.example/",
            "http://127.0.0.1.evil.example/",
            "http://127.1/",
            "http://2130706433/",
            "http://0.0.0.0/",
            "http://[::2]/",
            "http://[::1/",
            "https://user@as.example/",
            "https://as.example/a b",
            "https://as.example]/",
            "https://a]b/",
            "https://[fe80::1%25eth0]/",
            "https://as%2eexample/",
            "https://as.example;evil.example/",
            "https://as.example\"<script>/",
            "https://$(as).example/",
            "https://as.example/\" --flag",
            "https://as.example\\@evil/",
            " https://as.example/",
            "https://as.example/\r\nx",
            "https:as.example",
            "//as.example",
            "javascript:alert(1)",
            "JAVASCRIPT:x",
            "javascript://as.example/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "ms-settings://x",
            "",
            &long,
        ] {
            assert!(!is_secure(url), "{url}");
        }
    }

    #[test]
    fn z3_a_redirect_uri_is_https_or_on_this_machine() {
        assert!(is_redirect_uri("http://127.0.0.1:3000/callback") && is_redirect_uri("https://app.example/cb?x=1"));
        for uri in
            ["http://app.example/cb", "https://app.example/cb#x", "com.example.app:/cb", "urn:ietf:wg:oauth:2.0:oob"]
        {
            assert!(!is_redirect_uri(uri), "{uri}");
        }
    }

    #[test]
    fn well_known_urls_contain_the_path_as_it_is() {
        for (url, inserted, below) in [
            ("https://a.example", "https://a.example/.well-known/x", "https://a.example/.well-known/x"),
            ("https://a.example/", "https://a.example/.well-known/x", "https://a.example/.well-known/x"),
            (
                "https://A.example:443/T/",
                "https://A.example:443/.well-known/x/T",
                "https://A.example:443/T/.well-known/x",
            ),
            (
                "https://a.example/a%2fb?k=1#f",
                "https://a.example/.well-known/x/a%2fb?k=1",
                "https://a.example/a%2fb/.well-known/x",
            ),
        ] {
            assert_eq!(well_known(url, "x").as_deref(), Some(inserted));
            assert_eq!(well_known_below(url, "x").as_deref(), Some(below));
        }
        assert_eq!((well_known("stdio", "x"), well_known_below("", "x")), (None, None));
    }

    #[test]
    fn z6_the_canonical_uri_has_a_lower_case_host_and_no_empty_path() {
        for (url, canonical) in [
            ("https://MCP.Example.com/", "https://mcp.example.com"),
            ("HTTPS://mcp.example.com:8443", "https://mcp.example.com:8443"),
            ("https://mcp.example.com/Server/mcp/?key=secret#f", "https://mcp.example.com/Server/mcp/"),
        ] {
            assert_eq!(canonical_resource(url).as_deref(), Some(canonical));
        }
        assert_eq!(canonical_resource("mcp.example.com"), None);
    }

    #[test]
    fn a12_a_resource_covers_what_is_below_its_path_and_is_the_server_of_the_same_path() {
        for (resource, server, is_covered, is_same) in [
            ("https://a.example", "https://a.example/", true, true),
            ("https://A.example:443/mcp/", "https://a.example/mcp", true, true),
            ("https://a.example/mcp", "https://a.example/mcp/?key=1", true, true),
            ("https://a.example/mcp?t=1", "https://a.example/mcp?t=1", true, true),
            ("https://a.example", "https://a.example/mcp", true, false),
            ("https://a.example/", "https://a.example/mcp?x#y", true, false),
            ("https://a.example/mcp", "https://a.example/mcp/one", true, false),
            ("https://a.example/mcp", "https://a.example/mcp//", true, false),
            ("https://a.example/mcp?t=1", "https://a.example/mcp?t=2", false, false),
            ("https://a.example/mcp", "https://a.example/mcp2", false, false),
            ("https://a.example/MCP", "https://a.example/mcp", false, false),
            ("https://a.example/mcp/one", "https://a.example/mcp", false, false),
            ("https://evil.example", "https://a.example", false, false),
            ("https://evil.example/mcp", "https://a.example/mcp", false, false),
            ("http://a.example/mcp", "https://a.example/mcp", false, false),
            ("https://a.example/mcp#f", "https://a.example/mcp", false, false),
            ("https://user@a.example/mcp", "https://a.example/mcp", false, false),
            ("mcp", "https://a.example/mcp", false, false),
        ] {
            let found = (covers(resource, server), is_resource_of(resource, server));
            assert_eq!(found, (is_covered, is_same), "{resource} {server}");
        }
    }

    #[test]
    fn a_query_is_extended() {
        assert_eq!(with_query("https://a.example/x#f", "b=c"), "https://a.example/x?b=c");
        assert_eq!(with_query("https://a.example/x?a=1", "b=c"), "https://a.example/x?a=1&b=c");
        assert_eq!(with_query("https://a.example/x?", "b=c"), "https://a.example/x?b=c");
    }
}
