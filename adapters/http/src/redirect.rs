//! Where requests may be sent on to.

use http::{StatusCode, Uri};
use mcpwire_driver::core::http::Verb;

use crate::connect::port;

/// How often a request is sent on. 5: more is a loop, or as good as one.
pub(crate) const MOST: usize = 5;

/// Where a response sends a request on to, if it does.
///
/// # Errors
/// If it must not go there: to another origin, where headers and tokens are no one's business; or as another request than it is.
pub(crate) fn target(verb: Verb, from: &Uri, status: StatusCode, location: &[u8]) -> Result<Option<Uri>, String> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) || location.is_empty() {
        return Ok(None);
    }
    let shown = String::from_utf8_lossy(location).into_owned();
    if verb != Verb::Get && !matches!(status.as_u16(), 307 | 308) {
        return Err(format!(
            "with HTTP {}, which turns a {} into another request: {shown}",
            status.as_u16(),
            verb.as_str()
        ));
    }
    let Some(target) = resolve(from, &shown) else { return Err(format!("to what is no address: {shown}")) };
    let is_same = target.scheme_str() == from.scheme_str()
        && target.host().zip(from.host()).is_some_and(|(target, from)| target.eq_ignore_ascii_case(from))
        && port(&target) == port(from);
    if is_same {
        Ok(Some(target))
    } else {
        Err(format!("to another origin: {shown}; if that is right, use its address"))
    }
}

/// A reference as an address (RFC 3986, 5.2), as far as servers need it: dots in paths are left to the server.
fn resolve(from: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.split('#').next().unwrap_or_default().trim();
    let scheme = from.scheme_str()?;
    let authority = from.authority()?.as_str();
    let whole = if reference.contains("://") {
        reference.to_owned()
    } else if reference.starts_with("//") {
        format!("{scheme}:{reference}")
    } else if reference.starts_with('/') {
        format!("{scheme}://{authority}{reference}")
    } else if reference.starts_with('?') {
        format!("{scheme}://{authority}{}{reference}", from.path())
    } else {
        let folder = &from.path()[..=from.path().rfind('/')?];
        format!("{scheme}://{authority}{folder}{reference}")
    };
    let target: Uri = whole.parse().ok()?;
    // User and password are nothing that a server may give.
    let is_plain = target.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    is_plain.then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(verb: Verb, status: u16, location: &str) -> Result<Option<String>, String> {
        let from = Uri::from_static("https://example.com/a/b?c");
        let status = StatusCode::from_u16(status).unwrap();
        target(verb, &from, status, location.as_bytes()).map(|target| target.map(|uri| uri.to_string()))
    }

    #[test]
    fn the_same_origin_may_send_on_what_stays_the_same_request() {
        for (location, expected) in [
            ("/x", "https://example.com/x"),
            ("x?y", "https://example.com/a/x?y"),
            ("?y", "https://example.com/a/b?y"),
            ("//EXAMPLE.com/x", "https://EXAMPLE.com/x"),
            ("https://example.com:443/x#f", "https://example.com:443/x"),
        ] {
            for status in [307, 308] {
                assert_eq!(of(Verb::Post, status, location).unwrap().as_deref(), Some(expected));
            }
            assert_eq!(of(Verb::Get, 302, location).unwrap().as_deref(), Some(expected));
        }
        assert_eq!(of(Verb::Post, 200, "/x"), Ok(None));
        assert_eq!(of(Verb::Post, 307, ""), Ok(None));
    }

    #[test]
    fn nothing_goes_elsewhere_or_becomes_another_request() {
        for location in
            ["http://example.com/x", "https://example.com:444/", "https://example.org/", "https://u:p@example.com/"]
        {
            of(Verb::Get, 307, location).unwrap_err();
        }
        for status in [301, 302, 303] {
            of(Verb::Post, status, "/x").unwrap_err();
        }
    }
}
