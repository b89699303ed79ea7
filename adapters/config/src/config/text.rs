//! Texts that contain variables, and addresses.

/// Returns the names in braces in `text`, in order: `a` and `b` for `x{a}y{b}`. Braces without a valid name are skipped.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Name(name) => Some(name),
        Piece::Text(_) => None,
    })
}

/// Replaces each `{name}` in `text` by the result of calling `value` with the name. If the result is `None`, `{name}` stays.
/// Inserted text is not searched for further names.
pub(crate) fn fill<E>(text: &str, mut value: impl FnMut(&str) -> Result<Option<String>, E>) -> Result<String, E> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Name(name) => {
                if let Some(value) = value(name)? {
                    filled.push_str(&value);
                } else {
                    filled.extend(["{", name, "}"]);
                }
            }
        }
    }
    Ok(filled)
}

enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(after) = rest.strip_prefix('{')
            && let Some(end) = after.find(['}', '{'])
            && after[end..].starts_with('}')
            && is_name(&after[..end])
        {
            let name = &after[..end];
            rest = &after[end + 1..];
            return Some(Piece::Name(name));
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find('{').map_or(rest.len(), |at| first + at);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// Returns whether `url` is a URL to which the hub can send requests. It must be absolute, with `http` or `https` and a host.
/// It must not contain a user, a password, or characters that are invalid in URLs, such as braces.
pub(crate) fn is_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return false;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let colon = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
    let (host, port) = authority.split_at(colon.unwrap_or(authority.len()));
    let port = port.strip_prefix(':').unwrap_or_default();
    let plain = url.bytes().all(|byte| matches!(byte, b'!'..=b'~')) && !url.contains(['\\', '{', '}', '<', '>', '"']);
    plain && !authority.contains('@') && !host.is_empty() && (port.is_empty() || port.parse::<u16>().is_ok())
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

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn filled(text: &str) -> String {
        let Ok(filled) = fill::<Infallible>(text, |name| Ok((name == "a").then(|| "{a}!".to_owned())));
        filled
    }

    #[test]
    fn known_names_are_replaced_once_and_all_else_stays() {
        for (text, expected) in [
            ("x{a}y{a}", "x{a}!y{a}!"),
            ("{b}", "{b}"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{{a}}", "{{a}!}"),
            ("{a", "{a"),
            ("{}", "{}"),
            ("ä{a}ö", "ä{a}!ö"),
            ("", ""),
        ] {
            assert_eq!(filled(text), expected, "{text}");
        }
        assert_eq!(names_in("{a}{ b }{c.d-e}").collect::<Vec<_>>(), ["a", "c.d-e"]);
    }

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
