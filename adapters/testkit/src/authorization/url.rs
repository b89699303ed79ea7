//! Functions for URLs, and for the parameters of queries and forms.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::http::HttpRequest;

/// The bytes that are percent-encoded in a query or a form: all except the unreserved characters (RFC 3986, section 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The decoded parameters of a URL query or an HTML form, in order.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Decodes the parameters of a query or a form, and keeps their order.
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        Form(pairs.map(|(name, value)| (decode(name), decode(value))).collect())
    }

    /// Returns the first parameter of this name, or `None` if it is missing or empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

impl HttpRequest {
    /// Returns a parameter from the query of the URL, or else from the form in the body. `None` if it is missing or empty.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let form = Form::parse(&self.body);
        Form::parse(query(&self.url)).get(name).or_else(|| form.get(name)).map(Into::into)
    }
}

/// Splits a URL into its origin and the text after it, which is empty or begins with `/`, `?` or `#`.
pub(super) fn split_origin(url: &str) -> (&str, &str) {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(authority..).unwrap_or_default();
    url.split_at(authority + rest.find(['/', '?', '#']).unwrap_or(rest.len()))
}

/// Returns the origin of a URL: its scheme, host and port.
pub(super) fn origin(url: &str) -> &str {
    split_origin(url).0
}

/// Returns the path of a URL, without a slash at its end.
pub(super) fn path(url: &str) -> &str {
    without_query(split_origin(url).1).trim_end_matches('/')
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

/// Adds parameters to the query of a URL. There must be at least one parameter.
pub(super) fn with_parameters(url: &str, parameters: &[(&str, String)]) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    let pairs: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    format!("{url}{separator}{}", pairs.join("&"))
}

/// Percent-encodes a name or a value for a query or a form.
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Decodes a name or a value of a query or a form. A `+` stands for a space.
pub(super) fn decode(text: &str) -> String {
    percent_decode(&text.replace('+', " "))
}

/// Decodes the percent-encoded bytes of a text. A `+` stays a `+`.
pub(super) fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_split_and_forms_are_decoded() {
        let url = "https://auth.test:8443/tenant/?a=1%20+2&b=#x?c=3";
        assert_eq!(origin(url), "https://auth.test:8443");
        assert_eq!((path(url), query(url)), ("/tenant", "a=1%20+2&b="));
        assert_eq!(Form::parse(query(url)).0, [("a".into(), "1  2".into()), ("b".into(), String::new())]);
        assert_eq!(split_origin("https://auth.test"), ("https://auth.test", ""));
        assert_eq!(decode("100%+%zz%2"), "100% %zz%2");
        assert_eq!(percent_decode("a+b%20c"), "a+b c");
        assert_eq!(with_parameters("https://a.test/?x=1", &[("y", "ä b".into())]), "https://a.test/?x=1&y=%C3%A4%20b");
    }
}
