//! URLs and forms of requests.

/// Splits a URL into its origin and the rest, which is empty or begins with `/`, `?` or `#`.
pub(super) fn split_origin(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(authority..).unwrap_or_default();
    url.split_at(authority + rest.find(['/', '?', '#']).unwrap_or(rest.len()))
}

/// Returns the path of a URL, without a slash at its end.
pub(super) fn path(url: &str) -> &str {
    let (_, rest) = split_origin(url);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default().trim_end_matches('/')
}

/// Returns a URL without its query and fragment.
pub(super) fn without_query(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Returns the query of a URL, without the question mark.
pub(super) fn query(url: &str) -> &str {
    let (url, _) = url.split_once('#').unwrap_or((url, ""));
    url.split_once('?').map(|(_, query)| query).unwrap_or_default()
}

/// Adds parameters to the query of a URL.
pub(super) fn with_parameters(url: &str, parameters: &[(&str, &str)]) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    let pairs: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if pairs.is_empty() { url.to_owned() } else { format!("{url}{separator}{}", pairs.join("&")) }
}

/// Decodes a query or a form: names and values, in order.
pub(super) fn parameters(form: &str) -> Vec<(String, String)> {
    let pairs = form.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

/// Encodes a text for a query or a form.
pub(super) fn encode(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// Decodes a name or value of a query or a form.
pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) if byte == b'%' => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_and_forms_are_decoded() {
        let url = "https://auth.test:8443/tenant/?a=1%20+2&b=#x?c=3";
        assert_eq!(split_origin(url).0, "https://auth.test:8443");
        assert_eq!((path(url), query(url)), ("/tenant", "a=1%20+2&b="));
        assert_eq!(parameters(query(url)), [("a".into(), "1  2".into()), ("b".into(), String::new())]);
        assert_eq!(split_origin("https://auth.test"), ("https://auth.test", ""));
        assert_eq!(decode("100%+%zz%2"), "100% %zz%2");
        assert_eq!(with_parameters("https://a.test/?x=1", &[("y", "ä b")]), "https://a.test/?x=1&y=%C3%A4%20b");
    }
}
