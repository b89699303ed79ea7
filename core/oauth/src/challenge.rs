//! Parses `WWW-Authenticate` headers, whose challenges tell why a server refuses a request (RFC 9110, section 11.6.1).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::Scopes;

/// One challenge of a `WWW-Authenticate` header, of any authentication scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Challenge {
    /// The authentication scheme as the server wrote it. Compare it with [`Challenge::has_scheme`], which ignores case.
    pub scheme: String,
    /// The token68 data of a scheme without parameters, such as `Negotiate`. `None` if the challenge has no such data.
    pub token68: Option<String>,
    /// The parameters as pairs of name and value. Names are in lower case.
    pub params: Vec<(String, String)>,
}

impl Challenge {
    /// Parses the `WWW-Authenticate` headers of a response.
    ///
    /// The parser also accepts parameters without separating commas, and values without quotation marks.
    pub fn parse_all<'a>(headers: impl IntoIterator<Item = &'a str>) -> Vec<Challenge> {
        let mut challenges = Vec::new();
        for header in headers {
            Parser { rest: header }.parse(&mut challenges);
        }
        challenges
    }

    /// Returns whether the challenge has this authentication scheme, ignoring case.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// Returns the value of a parameter, or `None` if it is missing. `name` must be in lower case. The first of
    /// duplicate parameters counts.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn parse(mut self, challenges: &mut Vec<Challenge>) {
        let first = challenges.len();
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', ',']);
            if self.rest.is_empty() {
                return;
            }
            let token = self.take_while(is_token);
            if token.is_empty() {
                // The header is malformed, because no token starts here. Skip one character.
                self.rest = self.rest.get(1..).unwrap_or_else(|| self.rest.trim_start_matches(|c: char| !c.is_ascii()));
            } else if let Some(value) = self.value() {
                // A parameter before the first scheme of a header belongs to no challenge, and is ignored.
                if let Some(challenge) = challenges.get_mut(first..).and_then(<[Challenge]>::last_mut) {
                    challenge.params.push((token.to_ascii_lowercase(), value));
                }
            } else {
                let token68 = self.token68();
                challenges.push(Challenge { scheme: token.to_string(), token68, params: Vec::new() });
            }
        }
    }

    fn take_while(&mut self, accepts: fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(|byte| !accepts(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Reads `=` and the value after it. Returns `None` and reads nothing if the next character is not `=`.
    fn value(&mut self) -> Option<String> {
        let after = self.rest.trim_start_matches([' ', '\t']).strip_prefix('=')?;
        self.rest = after.trim_start_matches([' ', '\t']);
        Some(match self.rest.strip_prefix('"') {
            Some(inside) => self.quoted_string(inside),
            None => self.take_while(|byte| !matches!(byte, b' ' | b'\t' | b',')).to_string(),
        })
    }

    /// Reads a quoted string. If the closing quotation mark is missing, the string extends to the end of the header.
    fn quoted_string(&mut self, inside: &'a str) -> String {
        let mut value = String::new();
        let mut chars = inside.chars();
        while let Some(char) = chars.next() {
            match char {
                '"' => break,
                '\\' => value.extend(chars.next()),
                char => value.push(char),
            }
        }
        self.rest = chars.as_str();
        value
    }

    /// Reads a token68. Returns `None` and reads nothing if there is no token68.
    fn token68(&mut self) -> Option<String> {
        let before = self.rest;
        self.rest = self.rest.trim_start_matches(' ');
        let start = self.rest;
        let text = self.take_while(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
        let padding = self.take_while(|byte| byte == b'=');
        let is_last = self.rest.trim_start_matches([' ', '\t']).chars().next().is_none_or(|next| next == ',');
        if text.is_empty() || !is_last || start.len() == before.len() {
            self.rest = before;
            return None;
        }
        Some(start[..text.len() + padding.len()].to_string())
    }
}

/// Returns whether an HTTP token may contain the byte (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The `Bearer` and `DPoP` challenges with which a server refuses a request, merged (RFC 6750, section 3, and RFC 9728,
/// section 5.1).
///
/// If several challenges have the same parameter, the first one counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BearerChallenge {
    /// Whether the server accepts bearer tokens: it sent a `Bearer` challenge.
    pub bearer: bool,
    /// Whether the server accepts tokens with DPoP proofs: it sent a `DPoP` challenge.
    pub dpop: bool,
    /// The URL of the server's metadata document. It is untrusted; the flows check it before they use it. `None` if the
    /// challenge names none.
    pub resource_metadata: Option<String>,
    /// The scopes that the refused request needs. `None` if the challenge names no scopes.
    pub scopes: Option<Scopes>,
    /// The error code, for example `invalid_token` or `insufficient_scope`. `None` if the server sent no code, as for a
    /// request without a token.
    pub error: Option<String>,
    /// The server's explanation of the error. Untrusted text. `None` if the server sent none.
    pub error_description: Option<String>,
    /// The algorithms that the server accepts for DPoP proofs. Empty if the challenge does not list them.
    pub dpop_algorithms: Vec<String>,
}

impl BearerChallenge {
    /// Parses the `WWW-Authenticate` headers of a response. Returns `None` if the response has neither a `Bearer` nor a
    /// `DPoP` challenge.
    pub fn parse<'a>(headers: impl IntoIterator<Item = &'a str>) -> Option<BearerChallenge> {
        let mut found = BearerChallenge::default();
        for challenge in Challenge::parse_all(headers) {
            let dpop = challenge.has_scheme("DPoP");
            if !dpop && !challenge.has_scheme("Bearer") {
                continue;
            }
            found.dpop |= dpop;
            found.bearer |= !dpop;
            let text = |name| challenge.param(name).filter(|value| !value.is_empty()).map(ToString::to_string);
            found.resource_metadata = found.resource_metadata.or_else(|| text("resource_metadata"));
            found.error = found.error.or_else(|| text("error"));
            found.error_description = found.error_description.or_else(|| text("error_description"));
            let scopes = challenge.param("scope").map(Scopes::parse).filter(|scopes| !scopes.is_empty());
            found.scopes = found.scopes.or(scopes);
            let algorithms = challenge.param("algs").unwrap_or_default().split(' ').filter(|name| !name.is_empty());
            found.dpop_algorithms.extend(algorithms.map(ToString::to_string));
        }
        (found.bearer || found.dpop).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn challenge(scheme: &str, params: &[(&str, &str)]) -> Challenge {
        let params = params.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Challenge { scheme: scheme.to_string(), token68: None, params }
    }

    fn parse(header: &str) -> Vec<Challenge> {
        Challenge::parse_all([header])
    }

    #[test]
    fn a5_several_challenges_in_one_header_are_told_apart() {
        let header = r#"Newauth realm="apps, all", type=1, title="Login to \"apps\"", Basic realm="simple", Negotiate, NTLM TlRMTVNTUAAC==, Bearer"#;
        let mut expected = vec![
            challenge("Newauth", &[("realm", "apps, all"), ("type", "1"), ("title", "Login to \"apps\"")]),
            challenge("Basic", &[("realm", "simple")]),
            challenge("Negotiate", &[]),
            challenge("NTLM", &[]),
            challenge("Bearer", &[]),
        ];
        expected[3].token68 = Some("TlRMTVNTUAAC==".to_string());
        assert_eq!(parse(header), expected);
    }

    #[test]
    fn a5_several_headers_are_read_together() {
        let headers = [r#"Bearer error="invalid_token""#, r#", scope="x", Basic realm=y"#];
        let expected = [challenge("Bearer", &[("error", "invalid_token")]), challenge("Basic", &[("realm", "y")])];
        assert_eq!(
            Challenge::parse_all(headers),
            expected,
            "a parameter does not continue the challenge of another header"
        );
    }

    #[test]
    fn a5_unusual_spelling_is_read() {
        for header in [
            "bearer  Realm = \"a b\"\t,scope=c",
            ",, bearer\trealm=\"a b\" ,, scope=\"c\",",
            "bearer realm=\"a b\" scope=c",
            "bearer realm=\"a \\b\",scope=\"c",
        ] {
            assert_eq!(parse(header), [challenge("bearer", &[("realm", "a b"), ("scope", "c")])], "{header}");
        }
        assert_eq!(
            parse("Bearer resource_metadata=https://a.example/x?y=z, error="),
            [challenge("Bearer", &[("resource_metadata", "https://a.example/x?y=z"), ("error", "")])]
        );
    }

    #[test]
    fn a5_damaged_headers_are_read_as_far_as_possible() {
        assert_eq!(parse(""), []);
        assert_eq!(parse(" ,\t, "), []);
        assert_eq!(parse("realm=\"x\", Bearer a=b"), [challenge("Bearer", &[("a", "b")])]);
        assert_eq!(parse("(\"é\") Bearer a=\"ü\\"), [challenge("Bearer", &[("a", "ü")])]);
        assert_eq!(parse("Bearer @@, a=b"), [challenge("Bearer", &[("a", "b")])]);
        let [only] = &parse("Bearer a=1, a=2")[..] else { panic!() };
        assert_eq!((only.param("a"), only.param("b")), (Some("1"), None));
    }

    #[test]
    fn bearer_and_dpop_challenges_are_merged() {
        let headers = [
            r#"Basic realm="x", DPoP algs="ES256  EdDSA", error="use_dpop_nonce""#,
            r#"Bearer error="insufficient_scope", error_description="more", scope="a b", resource_metadata="https://a.example/m""#,
        ];
        let found = BearerChallenge::parse(headers).unwrap();
        assert!(found.bearer && found.dpop);
        assert_eq!(found.dpop_algorithms, ["ES256", "EdDSA"]);
        assert_eq!(found.error.as_deref(), Some("use_dpop_nonce"));
        assert_eq!(found.error_description.as_deref(), Some("more"));
        assert_eq!(found.scopes, Some(Scopes::parse("a b")));
        assert_eq!(found.resource_metadata.as_deref(), Some("https://a.example/m"));
    }

    #[test]
    fn other_schemes_and_empty_values_say_nothing() {
        assert_eq!(BearerChallenge::parse(["Basic realm=x", "Negotiate"]), None);
        let found = BearerChallenge::parse([r#"BEARER scope="", error="", resource_metadata="""#]).unwrap();
        assert_eq!(found, BearerChallenge { bearer: true, ..BearerChallenge::default() });
    }
}
