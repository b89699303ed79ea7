//! [`redirect_target`]: decides whether an HTTP client follows a redirect.

use mcpwire_core::http::{Failure, FailureKind, Verb};
use mcpwire_text::url::{disguised_ipv4, resolve, same_origin};

/// Maximum number of consecutive redirects that an HTTP client follows. 5: more are probably a loop.
pub const MAX_REDIRECTS: usize = 5;

/// Returns the URL to which to send a request again, or `None` if the response is not a redirect.
///
/// `url` is the URL of the request. `status` is the status code of the response, and `location` its `Location` header (empty if
/// the response has none).
///
/// # Errors
/// [`FailureKind::Redirect`] if the redirect leads to another origin, or changes the method of the request. Redirects to another
/// origin are refused, because it must not receive the headers and the access token.
pub fn redirect_target(verb: Verb, url: &str, status: u16, location: &[u8]) -> Result<Option<String>, Failure> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) || location.is_empty() {
        return Ok(None);
    }
    let location = String::from_utf8_lossy(location);
    let refused = |detail| Err(Failure::new(FailureKind::Redirect, detail));
    if verb != Verb::Get && !matches!(status, 307 | 308) {
        return refused(format!("HTTP {status} changes the method of a {} request: {location}", verb.as_str()));
    }
    match resolve(url, location.trim()) {
        None => refused(format!("invalid URL: {location}")),
        Some(target) if same_origin(url, &target) => Ok(Some(target)),
        Some(target) => {
            let address = disguised_ipv4(&target).map(|address| format!(" (the host {address})")).unwrap_or_default();
            refused(format!("to another origin: {location}{address}. If you trust it, use its URL for the server"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(verb: Verb, status: u16, location: &str) -> Result<Option<String>, Failure> {
        redirect_target(verb, "https://example.com/a/b?c", status, location.as_bytes())
    }

    #[test]
    fn redirects_to_the_same_origin_that_keep_the_method_are_followed() {
        for (location, expected) in [
            ("/x", "https://example.com/x"),
            ("x?y", "https://example.com/a/x?y"),
            ("?y", "https://example.com/a/b?y"),
            ("//EXAMPLE.com/x", "https://EXAMPLE.com/x"),
            ("https://example.com:443/x#f", "https://example.com:443/x"),
        ] {
            for status in [307, 308] {
                assert_eq!(target(Verb::Post, status, location).unwrap().as_deref(), Some(expected));
            }
            assert_eq!(target(Verb::Get, 302, location).unwrap().as_deref(), Some(expected));
        }
        assert_eq!(target(Verb::Post, 200, "/x"), Ok(None));
        assert_eq!(target(Verb::Post, 307, ""), Ok(None));
    }

    #[test]
    fn redirects_to_other_origins_or_to_another_method_are_refused() {
        for location in
            ["http://example.com/x", "https://example.com:444/", "https://example.org/", "https://u:p@example.com/"]
        {
            assert_eq!(target(Verb::Get, 307, location).unwrap_err().kind, FailureKind::Redirect);
        }
        for status in [301, 302, 303] {
            assert_eq!(target(Verb::Post, status, "/x").unwrap_err().kind, FailureKind::Redirect);
        }
    }
}
