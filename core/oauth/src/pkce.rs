//! PKCE: a code is worth nothing without the verifier of the login that asked for it (RFC 7636).

use alloc::string::String;

use sha2::{Digest, Sha256};

use crate::encoding::base64url;
use crate::{AuthorizationServerMetadata, Error, ErrorKind, OAuthSettings, Step};

/// The only method that is used. `plain` would show the verifier in the authorization request.
pub(crate) const METHOD: &str = "S256";

/// Returns the challenge of a verifier.
pub(crate) fn challenge(verifier: &str) -> String {
    base64url(Sha256::digest(verifier))
}

/// Fails unless the authorization server says that it supports PKCE with S256 (basic/authorization/security-considerations,
/// "Authorization Code Protection").
pub(crate) fn check(metadata: &AuthorizationServerMetadata, settings: &OAuthSettings) -> Result<(), Error> {
    let error = |reason: &str| Error::new(ErrorKind::Misconfigured, Step::Authorization, reason).at(&metadata.issuer);
    match &metadata.code_challenge_methods_supported {
        Some(methods) if methods.iter().any(|method| method == METHOD) => Ok(()),
        Some(_) => Err(error("the authorization server does not support PKCE with S256")),
        None if settings.quirks.assume_pkce => Ok(()),
        None => Err(error("the authorization server does not say that it supports PKCE")
            .with_advice("if its operator says that it does, use the setting `assume_pkce` for this server")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn z1_an_authorization_server_that_does_not_mention_pkce_is_refused() {
        let strict = OAuthSettings::new("Test", "http://127.0.0.1:1/");
        let assuming = strict.clone().assume_pkce(true);
        let with = |methods: Option<&[&str]>| AuthorizationServerMetadata {
            code_challenge_methods_supported: methods.map(|names| names.iter().map(ToString::to_string).collect()),
            ..AuthorizationServerMetadata::default()
        };
        for (methods, is_ok, is_ok_if_assumed) in [
            (Some(&["plain", "S256"][..]), true, true),
            (Some(&["plain"][..]), false, false),
            (Some(&[][..]), false, false),
            (None, false, true),
        ] {
            assert_eq!(check(&with(methods), &strict).is_ok(), is_ok, "{methods:?}");
            assert_eq!(check(&with(methods), &assuming).is_ok(), is_ok_if_assumed, "{methods:?}");
        }
        let error = check(&with(None), &strict).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        assert!(error.to_string().contains("`assume_pkce`"), "{error}");
    }
}
